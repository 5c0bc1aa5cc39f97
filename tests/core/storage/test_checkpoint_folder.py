"""A folder of checkpoints: which ones stay, which one is used, and a killed run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tree_strategies import EXAMPLE, check_equal, hash_of

from lifelong_co.errors import CheckpointError
from lifelong_co.storage import checkpoint, files
from lifelong_co.storage.checkpoint import CheckpointWarning, latest, load, save


def names(folder: Path) -> list[str]:
    """Return the sorted names in a folder."""
    return sorted(path.name for path in folder.iterdir())


def pair(step: int) -> list[str]:
    """Return the names of one checkpoint's two files."""
    return [f"checkpoint-{step:08d}.safetensors", f"checkpoint-{step:08d}.safetensors.sha256"]


def test_the_newest_two_are_kept(tmp_path: Path) -> None:
    """Older checkpoints are removed with their hashes after a save."""
    for step in (1, 2, 9, 100_000_000):
        save(tmp_path, step, step)
    assert names(tmp_path) == pair(9) + pair(100_000_000)
    assert latest(tmp_path) == (tmp_path / pair(100_000_000)[0], 100_000_000)


def test_later_checkpoints_are_removed(tmp_path: Path) -> None:
    """Saving step 4 removes the checkpoint of step 9, so that a run resumes from step 4."""
    for step in (3, 9, 4):
        save(tmp_path, step, step)
    assert names(tmp_path) == pair(3) + pair(4)
    assert latest(tmp_path) == (tmp_path / pair(4)[0], 4)


def test_step_saved_again_has_the_new_tree(tmp_path: Path) -> None:
    """The same step can be saved twice; the second tree counts."""
    save(tmp_path, 5, "old")
    assert load(save(tmp_path, 5, "new")) == "new"
    assert names(tmp_path) == pair(5)
    assert len(hash_of(tmp_path / pair(5)[0]).read_text().splitlines()) == 1


@pytest.mark.parametrize("moves", range(4))
def test_save_killed_between_two_renames_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moves: int
) -> None:
    """After a kill at any rename, the folder has the old or the new tree, complete."""
    save(tmp_path, 5, "old")
    done = 0

    def stopping(fresh: Path, path: Path) -> None:
        nonlocal done
        if done == moves:
            raise KeyboardInterrupt
        done += 1
        os.replace(fresh, path)

    with monkeypatch.context() as patch:
        patch.setattr(files, "move_whole", stopping)
        patch.setattr(checkpoint, "move_whole", stopping)
        if moves < 3:
            with pytest.raises(KeyboardInterrupt):
                save(tmp_path, 5, "new")
        else:
            save(tmp_path, 5, "new")
    assert done == moves  # hash, checkpoint, hash
    assert load(tmp_path / pair(5)[0]) == ("old" if moves < 2 else "new")
    assert names(tmp_path) == pair(5)


def test_failed_save_keeps_the_old_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the disk returns other bytes than were written, only the old checkpoint stays."""
    save(tmp_path, 1, EXAMPLE)

    def disturb(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)

    monkeypatch.setattr(checkpoint, "synchronize", disturb)
    with pytest.raises(CheckpointError, match=r"00000002.* could not be written .*read back"):
        save(tmp_path, 2, EXAMPLE)
    assert names(tmp_path) == pair(1)


def test_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    """The error names the checkpoint."""
    (tmp_path / "taken").write_text("")
    with pytest.raises(CheckpointError, match=r"taken.*00000001.* could not be written"):
        save(tmp_path / "taken", 1, None)


def test_leftovers_of_a_killed_save_are_ignored_and_removed(tmp_path: Path) -> None:
    """Partial files of a killed save are never read, and the next save removes them."""
    path = save(tmp_path, 1, EXAMPLE)
    (tmp_path / ".unfinished").mkdir()
    (tmp_path / ".unfinished" / pair(2)[0]).write_bytes(path.read_bytes()[:50])
    (tmp_path / ".unfinished" / ".tmpAbCdEf").write_bytes(b"\0")
    (tmp_path / f".{pair(2)[1]}.0123abcd.tmp").write_bytes(b"\0")
    (tmp_path / pair(2)[1]).write_text("0" * 64 + f"  {pair(2)[0]}\n")  # a hash without its file
    (tmp_path / "notes.txt").write_text("mine")
    found_path, tree = latest(tmp_path) or pytest.fail("nothing found")
    assert found_path == path
    check_equal(tree, EXAMPLE)
    save(tmp_path, 3, EXAMPLE)
    assert names(tmp_path) == sorted([*pair(1), *pair(3), "notes.txt"])


def test_latest_is_none_without_checkpoints(tmp_path: Path) -> None:
    """An empty folder, a missing one and one with other files have no checkpoint."""
    assert latest(tmp_path) is None
    assert latest(tmp_path / "missing") is None
    (tmp_path / "checkpoint-1.safetensors").write_text("another program's")
    assert latest(tmp_path) is None


def test_latest_falls_back_with_a_warning(tmp_path: Path) -> None:
    """A warning names the altered newest checkpoint, and the one before it is used."""
    first, second = save(tmp_path, 1, "first"), save(tmp_path, 2, "second")
    second.write_bytes(second.read_bytes()[:-1])
    with pytest.warns(CheckpointWarning, match=r"00000002.*truncated.*using .*00000001") as caught:
        assert latest(tmp_path) == (first, "first")
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_latest_raises_if_no_checkpoint_is_usable(tmp_path: Path) -> None:
    """The error names each of the checkpoints."""
    for step in (1, 2):
        hash_of(save(tmp_path, step, step)).unlink()
    with pytest.raises(CheckpointError, match=r"(?s)00000002\.safetensors.*00000001\.safetensors"):
        latest(tmp_path)


# One process imports torch, then forks and kills: twelve kills in the time of two imports.
KILLER = """
import os, random, signal, sys, time
from pathlib import Path
import torch
from lifelong_co.storage import checkpoint
torch.set_num_threads(1)
stream = random.Random(0)
for attempt in range(12):
    folder = Path(sys.argv[1]) / str(attempt)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        for step in range(100_000):
            tree = {"step": step, "values": torch.full((50_000,), step)}
            checkpoint.save(folder, step, tree)
            os.write(writer, b"%d " % step)
    os.close(writer)
    report = os.read(reader, 1)  # the first checkpoint is there
    time.sleep(stream.uniform(0, 0.1))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(reader, 4096):
        report += more
    os.close(reader)
    print((report + b"0").split()[-2].decode())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_a_run_killed_at_any_moment_can_be_resumed(tmp_path: Path) -> None:
    """A process that saves in a loop and is killed leaves its last save or the next one."""
    process = subprocess.run(
        [sys.executable, "-c", KILLER, str(tmp_path)], capture_output=True, text=True, check=True
    )
    reported = [int(line) for line in process.stdout.split()]
    assert len(reported) == 12
    for attempt, step in enumerate(reported):
        folder = tmp_path / str(attempt)
        _, tree = latest(folder) or pytest.fail("nothing found")  # a warning would be an error
        assert step <= tree["step"] <= step + 1
        assert bool((tree["values"] == tree["step"]).all())
        save(folder, tree["step"] + 1, tree)
        assert names(folder) == pair(tree["step"]) + pair(tree["step"] + 1)
