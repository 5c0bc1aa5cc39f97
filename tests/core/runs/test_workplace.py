"""A run folder at work: one process, no leftovers, checked before training."""

from pathlib import Path

import pytest
from command_line import contents

from lifelong_co.errors import (
    ComponentError,
    ConfigError,
    FolderError,
    Interrupted,
    LifelongError,
    UnknownNameError,
)
from lifelong_co.runs import workplace
from lifelong_co.runs.data_parallel import Ranks
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.workplace import at_work


def test_second_process_is_refused(tmp_path: Path) -> None:
    """The message names the folder; afterwards the folder is free, and the lock is gone."""
    folder = tmp_path / "run"
    with at_work(folder, new=True):
        (folder / "config.toml").touch()
        with (
            pytest.raises(ConfigError, match="run: another process is at work here"),
            at_work(folder),
        ):
            raise AssertionError
    with at_work(folder):
        pass
    assert list(contents(folder)) == ["config.toml"]


def test_refused_block_leaves_nothing(tmp_path: Path) -> None:
    """Folders that were made for the lock are removed; folders that were there stay."""
    (tmp_path / "there").mkdir()
    for folder in (tmp_path / "runs" / "new", tmp_path / "there"):
        with pytest.raises(KeyError), at_work(folder, new=True):
            raise KeyError
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]


@pytest.mark.parametrize(
    ("new", "more", "error", "stays"),
    [
        (True, "", ConfigError("objective: refused"), False),
        (True, "", UnknownNameError("weighting", "var", []), False),
        (False, "", ConfigError("objective: refused"), True),
        (True, "checkpoints/after-task-1", ConfigError("tests: refused"), True),
        (True, "notes.txt", ConfigError("objective: refused"), True),
        (True, "", FolderError(Path("run"), "a new folder", "a run"), True),
        (True, "", Interrupted(Path("run")), True),
        (True, "", ComponentError("method: no scalar"), True),
    ],
)
def test_new_run_that_is_refused_in_its_first_step_leaves_nothing(
    new: bool, more: str, error: LifelongError, stays: bool, tmp_path: Path
) -> None:
    """It stays if it can be resumed, or if anything is there that a run does not begin with."""
    folder = tmp_path / "runs" / "run"

    def write() -> None:
        (folder / "checkpoints").mkdir(parents=True)
        for name in (*workplace.FIRST, *[more] * bool(more)):
            (folder / name).touch()
        raise error

    with pytest.raises(type(error)), at_work(folder, new=new):
        write()
    found = sorted(contents(folder)) if folder.exists() else []
    assert found == sorted([*workplace.FIRST, *[more] * bool(more)] * stays)
    assert (tmp_path / "runs").exists() == stays


def test_run_of_a_faster_process_is_refused_and_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the first look and the lock another process may write a run."""
    looks = []

    def first_look(self: RunFolder) -> None:
        if not looks:
            looks.append(self.path)
            (tmp_path / "config.toml").touch()
        else:
            real(self)

    real = RunFolder.check_new
    monkeypatch.setattr(RunFolder, "check_new", first_look)
    with pytest.raises(FolderError), at_work(tmp_path, new=True):
        raise AssertionError
    assert list(contents(tmp_path)) == ["config.toml"]


def test_leftovers_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    """Only files with the names of our temporaries; a folder of nothing else counts as empty."""
    left = (".config.toml.0123abcd.tmp", "lock", "checkpoints/.x.sha256.89abcdef.tmp")
    kept = (".mine.tmp", "checkpoints/mine.0123abcd.tmp")
    (tmp_path / "checkpoints").mkdir()
    for name in (*left, *kept):
        (tmp_path / name).touch()
    (tmp_path / "checkpoints" / ".unfinished").mkdir()
    (tmp_path / "checkpoints" / ".unfinished" / "checkpoint-00000001.safetensors").touch()
    with at_work(tmp_path):
        assert not (tmp_path / "checkpoints" / ".unfinished").exists()
        assert sorted(contents(tmp_path)) == sorted((*kept, "lock"))
    (tmp_path / "early").mkdir()
    for name in left[:2]:
        (tmp_path / "early" / name).touch()
    with at_work(tmp_path / "early", new=True):
        pass
    with pytest.raises(FolderError), at_work(tmp_path, new=True):
        raise AssertionError


@pytest.mark.parametrize("name", [*workplace.FILES, *workplace.FOLDERS])
def test_wrong_kind_of_place_is_refused_at_the_start(name: str, tmp_path: Path) -> None:
    """A folder in the place of a file, or the other way round, is found before training."""
    if name in workplace.FILES:
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).touch()
    with pytest.raises(ConfigError, match=f"{name}: expected a f"), at_work(tmp_path):
        raise AssertionError


@pytest.mark.parametrize("name", [".", "checkpoints", "costs.csv"])
def test_missing_permission_is_found_at_the_start(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error has the name of the file or folder. `os.access` is replaced, as root may all."""
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "costs.csv").touch()
    place = tmp_path / name
    monkeypatch.setattr("os.access", lambda path, mode: path != place)  # noqa: ARG005
    with pytest.raises(PermissionError) as raised, at_work(tmp_path):
        raise AssertionError
    assert raised.value.filename == str(place)


def test_only_the_first_of_several_processes_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others work in the same folder; if the first is refused, they end, too."""
    refused = False
    monkeypatch.setattr(Ranks, "highest", lambda self, mine: max(mine, int(refused)))  # noqa: ARG005
    with at_work(tmp_path, Ranks(0, 2)), at_work(tmp_path, Ranks(1, 2)):
        pass
    refused = True
    with (
        pytest.raises(ConfigError, match="refused by the first process"),
        at_work(tmp_path, Ranks(1, 2)),
    ):
        raise AssertionError
