"""Runs started as processes of this machine."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lifelong_co.experiments.sweep import engines
from lifelong_co.experiments.sweep.engines import LocalEngine, run_environment, visible_gpus

PROGRAM = """
import os, sys
print(sys.argv[1], os.environ["OMP_NUM_THREADS"], os.environ.get("CUDA_VISIBLE_DEVICES"))
sys.exit(3)
"""


def test_process_appends_to_its_log_and_returns_its_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run has one thread; without GPUs, the engine does not change the visible ones."""
    program = [sys.executable, "-S", "-c", PROGRAM]
    monkeypatch.setattr(engines, "command", lambda arguments: [*program, *arguments])
    log = tmp_path / "run.log"
    log.write_text("before\n")
    handle = LocalEngine(1).submit(["run"], log)
    assert isinstance(handle, engines.Process)
    assert handle.process.wait(timeout=60) == 3
    assert handle.poll() == 3
    assert log.read_text() == f"before\nrun 1 {os.environ.get('CUDA_VISIBLE_DEVICES')}\n"


def test_files_of_the_working_directory_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user's folder may have a file named like a module."""
    (tmp_path / "typer.py").write_text("raise SystemExit(9)\n")
    monkeypatch.chdir(tmp_path)
    done = subprocess.run(engines.command(["--version"]), check=False, timeout=60)
    assert done.returncode == 0


def test_run_has_one_thread_whatever_the_user_has_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs at the same time would compete; the rest of the environment is the user's."""
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    own = run_environment()
    assert (own["OMP_NUM_THREADS"], own["PATH"]) == ("1", os.environ["PATH"])


class Waiting:
    """A process that runs until it gets a signal."""

    def __init__(self) -> None:
        self.status: int | None = None

    def poll(self) -> int | None:
        """Return the status."""
        return self.status

    def terminate(self) -> None:
        """End with the signal to stop."""
        self.status = -signal.SIGTERM

    def kill(self) -> None:
        """End at once."""
        self.status = -signal.SIGKILL


def test_run_gets_the_gpu_with_the_fewest_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs that have ended do not count."""
    gpus = []

    def start(arguments: object, log: object, environment: dict[str, str], lock: object) -> Waiting:  # noqa: ARG001
        gpus.append(environment["CUDA_VISIBLE_DEVICES"])
        return Waiting()

    monkeypatch.setattr(engines, "_start", start)
    engine = LocalEngine(3, ("2", "5"))
    first, second, _ = (engine.submit(["x"], tmp_path / "log") for _ in range(3))
    assert gpus == ["2", "5", "2"]
    second.stop()
    assert second.poll() == -signal.SIGTERM
    engine.submit(["x"], tmp_path / "log")
    first.kill()
    assert first.poll() == -signal.SIGKILL
    engine.submit(["x"], tmp_path / "log")
    assert gpus == ["2", "5", "2", "5", "2"]


@pytest.mark.parametrize(
    ("given", "expected"), [("", ["0", "1"]), ("3, 1,7", ["3", "1"]), ("GPU-a", ["GPU-a"])]
)
def test_gpus_have_the_names_that_this_process_sees(
    monkeypatch: pytest.MonkeyPatch, given: str, expected: list[str]
) -> None:
    """Numbers from 0 if the variable is empty."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
    assert visible_gpus(2) == expected
