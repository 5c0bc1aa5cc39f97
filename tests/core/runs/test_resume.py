"""Resuming from the latest whole checkpoint of a run folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lifelong_co.errors import CheckpointError
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.resume import resume
from lifelong_co.storage import checkpoint
from lifelong_co.storage.checkpoint import CheckpointWarning


def saved(folder: Path, *steps: int) -> RunFolder:
    """Return a run folder with a checkpoint of each step."""
    run = RunFolder(folder)
    for step in steps:
        checkpoint.save(run.checkpoints, step, {"step": step})
    return run


def test_latest_checkpoint_is_loaded(tmp_path: Path) -> None:
    """Its file is returned, and nothing is logged."""
    loaded: list[Mapping[str, Any]] = []
    lines: list[str] = []
    run = saved(tmp_path, 3, 7)
    found = resume(run, loaded.append, lines.append)
    assert found == checkpoint.path_of(run.checkpoints, 7)
    assert [state["step"] for state in loaded] == [7]
    assert lines == []


def test_damaged_checkpoint_gives_way_to_the_one_before(tmp_path: Path) -> None:
    """The latest one that is whole is loaded."""
    run = saved(tmp_path, 3, 7)
    last = checkpoint.path_of(run.checkpoints, 7)
    last.write_bytes(last.read_bytes()[:-1])
    loaded: list[Mapping[str, Any]] = []
    with pytest.warns(CheckpointWarning, match="using checkpoint-00000003"):
        resume(run, loaded.append, print)
    assert [state["step"] for state in loaded] == [3]


def test_folder_without_a_checkpoint_begins(tmp_path: Path) -> None:
    """Nothing is loaded, and one line says so."""
    lines: list[str] = []
    assert resume(saved(tmp_path), lambda _: pytest.fail("loaded"), lines.append) is None
    assert lines == ["no checkpoint yet: starting from the beginning"]


@pytest.mark.parametrize(
    "error", [AttributeError, KeyError, OverflowError, RuntimeError, TypeError, ValueError]
)
def test_checkpoint_of_another_run_is_refused(tmp_path: Path, error: type[Exception]) -> None:
    """The error names the checkpoint, the configuration and the reason."""

    def load(state: Mapping[str, Any]) -> None:
        raise error(f"no step {state['step']}")

    run = saved(tmp_path, 3)
    with pytest.raises(
        CheckpointError, match=r"00000003\S*: does not fit \S+config\.toml \(.*no step 3"
    ):
        resume(run, load, print)


def test_folder_without_a_whole_checkpoint_is_refused(tmp_path: Path) -> None:
    """A run does not start over when its only checkpoint is damaged."""
    run = saved(tmp_path, 3)
    checkpoint.path_of(run.checkpoints, 3).write_bytes(b"")
    with pytest.raises(CheckpointError, match="no checkpoint can be used"):
        resume(run, lambda _: None, print)
