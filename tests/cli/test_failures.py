"""Every failure of the system is one line: status 1 for a fault, 2 for a mistake; no traceback."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Outcome, call, contents, run_options, spawn, wait

from lifelong_co.runs import provenance
from lifelong_co.runs.folder import RunFolder

LONG = "x" * 300
FULL = Path("/dev/full")


def line(outcome: Outcome, status: int) -> str:
    """Return the only line on standard error."""
    assert outcome.status == status, outcome
    [said] = outcome.err.splitlines()
    assert said.startswith("lifelong-co: ")
    return said.removeprefix("lifelong-co: ")


def on_full_device(*arguments: object) -> Outcome:
    """Run the command with a full device as standard output."""
    command = [sys.executable, "-m", "lifelong_co_cli.main", *map(str, arguments)]
    with FULL.open("w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=120
        )
    return Outcome(done.returncode, "", done.stderr)


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has it")
@pytest.mark.parametrize("arguments", [["--help"], ["plugins"]])
def test_output_that_cannot_be_written_is_a_fault(arguments: list[str]) -> None:
    """The error is shown once, also when Python writes only at its end."""
    said = line(on_full_device(*arguments), 1)
    assert said.startswith("standard output: No space left on device; free space")


@pytest.mark.parametrize("argument", ["--help", "plugins"])
def test_reader_that_has_enough_is_no_error(argument: str) -> None:
    """As in `lifelong-co plugins | head -1`."""
    process = spawn(argument)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait(60) == 1
    process.stderr.close()


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", f"--out={LONG}", "--preset=demo", "--device=cpu"],
        ["run", "--resume", LONG],
        ["compare", LONG],
        ["report", LONG],
        ["evaluate", LONG],
        ["sweep", LONG],
        ["solve", LONG],
        ["import-checkpoint", LONG, "--solver=pomo", "--out=new"],
    ],
)
def test_name_that_is_too_long_is_refused(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error has the name, and no file is made."""
    monkeypatch.chdir(tmp_path)
    said = line(call(*arguments), 2)
    assert said.startswith(LONG) or f" {LONG}: " in said
    assert "File name too long" in said
    assert not contents(tmp_path)


def test_argument_that_is_not_utf_8_is_refused() -> None:
    """Configurations and reports could not name such a file."""
    said = line(call("compare", os.fsdecode(b"bad\xff")), 2)
    assert said == r"expected arguments in UTF-8, got b'bad\xff'; rename the file"


def test_full_disk_ends_a_run_with_the_name_of_the_file(
    task_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run goes on where it was once there is space."""
    folder = tmp_path / "run"
    flush = os.fsync

    def full(descriptor: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").readlink().name == "log.jsonl":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    options = run_options(task_file, "fine-tuning", "cvrp")
    said = line(call(*options, "--out", folder), 1)
    expected = "log.jsonl: No space left on device; free space on the disk, then try again"
    assert said == f"{folder / expected}"
    monkeypatch.undo()
    assert call("run", "--resume", folder).status == 0


def test_second_process_in_a_run_folder_is_refused(task_file: Path, tmp_path: Path) -> None:
    """While a run is at work, nobody else can resume it; the run ends undisturbed."""
    folder = tmp_path / "run"
    process = spawn(*run_options(task_file, "fine-tuning", "cvrp"), "--out", folder)
    assert process.stdout is not None
    next(text for text in process.stdout if "epoch 1: cost" in text)
    os.kill(process.pid, signal.SIGSTOP)
    try:
        said = line(call("run", "--resume", folder), 2)
    finally:
        os.kill(process.pid, signal.SIGCONT)
    assert said == f"{folder}: another process is at work here; wait for it or stop it"
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert not (folder / "lock").exists()


def test_wrong_stored_name_is_refused_with_its_file(finished, tmp_path: Path) -> None:
    """The error names the configuration that holds the name."""
    folder = tmp_path / "run"
    shutil.copytree(finished("fine-tuning").folder, folder)
    text = (folder / "config.toml").read_text()
    (folder / "config.toml").write_text(text.replace('solver = "pomo"', 'solver = "pmo"'))
    for arguments in (["run", "--resume", folder], ["evaluate", folder]):
        said = line(call(*arguments), 2)
        assert said.startswith("Unknown solver 'pmo'")
        assert said.endswith(f"(in {folder / 'config.toml'})")


def test_evaluate_of_an_older_checkpoint_warns(finished, tmp_path: Path) -> None:
    """The newest one is gone, as the log shows."""
    folder = tmp_path / "run"
    shutil.copytree(finished("fine-tuning").folder, folder)
    assert wait(spawn("evaluate", folder)).err == ""
    for path in folder.glob("checkpoints/checkpoint-00000018.*"):
        path.unlink()
    evaluated = wait(spawn("evaluate", folder, "--json"))
    assert line(evaluated, 0).startswith(f"warning: {RunFolder(folder).checkpoints}/checkpoint-000")
    assert "using this older one" in evaluated.err
    assert list(json.loads(evaluated.out)) == ["U6", "E7", "U6 (2)"]


def test_same_command_gives_the_same_provenance(finished, tmp_path: Path) -> None:
    """Its file has no time and no name of a machine."""
    run = finished("fine-tuning")
    assert call(*run.options, "--out", tmp_path / "again").status == 0
    first, again = (folder / provenance.FILE for folder in (run.folder, tmp_path / "again"))
    assert first.read_bytes() == again.read_bytes()


def test_an_output_without_utf_8_shows_what_it_can():
    """The help and tables have characters such as an ellipsis."""
    for words in (("--help",), ("run", "--help")):
        done = subprocess.run(
            [sys.executable, "-m", "lifelong_co_cli.main", *words],
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "Usage" in done.stdout


@pytest.mark.parametrize("flag", ["--method-option", "--solver-option", "--setting"])
def test_a_name_with_two_values_is_refused(flag):
    """The last one would count silently; the same value twice is no contradiction."""
    said = line(call("run", flag, "x=1", flag, "x=2", "--dry-run"), 2)
    assert said == "x: expected one value, got 1 and 2"
    twice = call(
        "run", "--setting=learning_rate=1e-3", "--setting=learning_rate=0.001", "--dry-run"
    )
    assert twice.status == 0
