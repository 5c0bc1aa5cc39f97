"""Solvers read back from a run folder, and their fingerprints."""

import shutil
from pathlib import Path

import attrs
import pytest
import torch
from tiny_runs import parameters, same, tiny_config

from lifelong_co.config.run_config import to_toml
from lifelong_co.errors import CheckpointError, ComponentError, ConfigError
from lifelong_co.learner import learn
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run
from lifelong_co.runs.trained_solver import fingerprint, load_solver
from lifelong_co.storage.checkpoint import CheckpointWarning


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run that has learned two tasks."""
    return learn(prepare(tiny_config("fine-tuning"), tmp_path_factory.mktemp("learned") / "run"))


def test_solver_has_the_parameters_of_the_run(run: Run) -> None:
    """It is the present solver, or the one after a task, in evaluation mode."""
    path = run.folder.path
    present, after = load_solver(path), load_solver(path, after=2)
    for solver in (present, after):
        assert same(solver.module.state_dict(), parameters(run))
        assert not solver.module.training
    assert not same(load_solver(path, after=1).module.state_dict(), parameters(run))


def test_solver_in_double_precision_is_refused(run: Run) -> None:
    """A program that changes the default of torch would get an error from a layer."""
    usual = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with pytest.raises(ComponentError, match="'pomo': expected parameters in float32, got"):
            load_solver(run.folder.path)
    finally:
        torch.set_default_dtype(usual)


@pytest.mark.parametrize("after", [0, 3])
def test_number_of_tasks_out_of_range_is_refused(run: Run, after: int) -> None:
    """The error has the range and the number."""
    with pytest.raises(ConfigError, match=f"tasks learned: expected 1 to 2, got {after}"):
        load_solver(run.folder.path, after=after)


def test_run_without_a_checkpoint_is_refused(tmp_path: Path) -> None:
    """The error asks whether the run has come so far."""
    prepare(tiny_config("fine-tuning"), tmp_path / "run")
    with pytest.raises(CheckpointError, match="has the run finished its first epoch"):
        load_solver(tmp_path / "run")
    with pytest.raises(CheckpointError, match="has the run finished 1 tasks"):
        load_solver(tmp_path / "run", after=1)


def test_checkpoint_of_another_network_is_refused(run: Run, tmp_path: Path) -> None:
    """The error names the checkpoint and the configuration that it does not fit."""
    shutil.copytree(run.folder.path, tmp_path / "run")
    options = {**run.config.solver_options, "ff_hidden_dim": 8}
    other = to_toml(attrs.evolve(run.config, solver_options=options))
    (tmp_path / "run" / "config.toml").write_text(other)
    with pytest.raises(CheckpointError, match=r"does not fit \S+config\.toml \("):
        load_solver(tmp_path / "run")


def test_fingerprint_depends_on_the_solver_alone(run: Run, tmp_path: Path) -> None:
    """A copy of the run has the same one; changed parameters or options have another."""
    path = run.folder.path
    solver = load_solver(path)
    known = fingerprint(path, solver)
    assert len(known) == 64
    assert set(known) <= set("0123456789abcdef")
    copy = tmp_path / "copy"
    shutil.copytree(path, copy)
    assert fingerprint(copy, load_solver(copy)) == known
    with torch.no_grad():
        next(solver.module.parameters()).view(-1)[0] += 1
    assert fingerprint(path, solver) != known
    options = {**run.config.solver_options, "head_num": 4}
    other = to_toml(attrs.evolve(run.config, solver_options=options))
    (copy / "config.toml").write_text(other)
    assert fingerprint(copy, load_solver(path)) != known


def test_older_state_is_warned_of(run: Run, tmp_path: Path) -> None:
    """The log goes on after the latest checkpoint; a damaged log says nothing."""
    shutil.copytree(run.folder.path, tmp_path / "run")
    for path in (tmp_path / "run" / "checkpoints").glob(f"*{run.steps:08d}.safetensors*"):
        path.unlink()
    with pytest.warns(CheckpointWarning, match=r"log\.jsonl goes on after this checkpoint"):
        load_solver(tmp_path / "run")
    load_solver(tmp_path / "run", after=1)
    (tmp_path / "run" / "log.jsonl").write_text("{")
    load_solver(tmp_path / "run")
