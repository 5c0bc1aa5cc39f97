"""Runs that start with another run's parameters or experiences."""

import shutil
from pathlib import Path

import attrs
import pytest
import torch
from tiny_runs import MODEL, parameters, same, tiny_config, tiny_learn

import lifelong_co as lco
from lifelong_co import registry
from lifelong_co.config.resolve import resolve
from lifelong_co.config.run_config import Config
from lifelong_co.errors import Interrupted
from lifelong_co.learner import learn
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.runs.warm_start import left_behind


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run folder of a tiny Omni, with a buffer."""
    folder = tmp_path_factory.mktemp("source")
    config = attrs.evolve(tiny_config(), solver="omni", solver_options={**MODEL, "norm": "none"})
    tiny_learn(config, folder)
    return folder / "run"


def from_its_parameters(source: Path, **settings: object) -> Config:
    """Return a run like the source's that starts with its parameters."""
    return attrs.evolve(
        tiny_config(**settings),
        solver="omni",
        solver_options={**MODEL, "norm": "none"},
        start_from=str(source),
    )


def stopped_after(steps: int, config: Config, folder: Path) -> None:
    """Start a run and stop it."""
    left = iter(range(steps))
    with pytest.raises(Interrupted):
        learn(prepare(config, folder), stop=lambda: next(left, None) in (None, steps - 1))


def test_tasks_of_which_only_parameters_are_taken(source: Path) -> None:
    """None with the experiences, without a start, or from a folder that learned no tasks."""
    config = from_its_parameters(source)
    tasks = tuple(task.label for task in tiny_config().tasks)
    assert left_behind(config) == tasks
    assert left_behind(attrs.evolve(config, buffer_from=str(source))) == ()
    assert left_behind(attrs.evolve(config, start_from="")) == ()


def test_run_starts_with_the_parameters_of_the_source(source: Path, tmp_path: Path) -> None:
    """The first step has the source's parameters, and `restart` returns to them."""
    first: list[dict[str, torch.Tensor]] = []
    config = attrs.evolve(from_its_parameters(source, method="restart"), learning_rate=0.0)
    run = tiny_learn(config, tmp_path, on_step=lambda run, _: first.append(parameters(run)))
    given = load_solver(source).module.state_dict()
    assert same(first[0], given)
    assert same(run.learner.initial, given)


def test_stopped_run_resumes_without_its_source(source: Path, tmp_path: Path) -> None:
    """It ends in the same bytes, with `restart` too."""
    copy = tmp_path / "copy"
    shutil.copytree(source, copy)
    config = from_its_parameters(copy, method="restart")
    whole = learn(prepare(config, tmp_path / "whole"))
    stopped_after(3, config, tmp_path / "stopped")
    shutil.rmtree(copy)
    resumed = learn(prepare(config, tmp_path / "stopped", resume=True))
    assert same(parameters(resumed), parameters(whole))
    assert resumed.costs == whole.costs


def test_configuration_has_the_solver_and_options_of_the_source(source: Path) -> None:
    """Another solver or a missing source is refused."""
    config = resolve(start_from=source, preset="small")
    assert (config.solver, config.problem) == ("omni", "tsp")
    own = {**MODEL, "norm": "none"}
    assert config.solver_options == registry.all_options("solver", "omni", own)
    with pytest.raises(lco.ConfigError, match=r"solver: expected 'omni' as in .*got 'pomo'"):
        resolve(start_from=source, solver="pomo")
    with pytest.raises(lco.ConfigError, match=r"nowhere: expected a run folder"):
        resolve(start_from=Path("nowhere"))


def test_parameters_that_do_not_fit_are_refused(source: Path, tmp_path: Path) -> None:
    """The error names the source."""
    config = from_its_parameters(source)
    config = attrs.evolve(config, solver_options={**config.solver_options, "ff_hidden_dim": 8})
    with pytest.raises(lco.CheckpointError, match=f"start_from {source}: does not fit"):
        tiny_learn(config, tmp_path)


def units(run: Run) -> list[int]:
    """Return the task of every unit in a run's buffer."""
    return [unit["task"] for unit in run.method.state_dict()["buffer"]["items"]]


def test_new_solver_consolidates_the_buffer_of_another_solver(source: Path, tmp_path: Path) -> None:
    """POMO replays Omni's experiences from its first step on and keeps them beside new ones."""
    losses: list[dict[str, float]] = []
    config = attrs.evolve(tiny_config(), buffer_from=str(source))
    run = tiny_learn(config, tmp_path, on_step=lambda _, values: losses.append(values))
    assert losses[0]["consolidation"] > 0
    assert set(units(run)) == {-1, 0, 1}


def test_stopped_run_keeps_the_buffer_of_its_source(source: Path, tmp_path: Path) -> None:
    """Resumed without the source, in the first task, the run ends in the same bytes."""
    copy = tmp_path / "copy"
    shutil.copytree(source, copy)
    config = attrs.evolve(tiny_config(), buffer_from=str(copy))
    whole = learn(prepare(config, tmp_path / "whole"))
    stopped_after(1, config, tmp_path / "stopped")
    shutil.rmtree(copy)
    resumed = learn(prepare(config, tmp_path / "stopped", resume=True))
    assert same(parameters(resumed), parameters(whole))
    assert units(resumed) == units(whole)


def test_unusable_buffer_is_refused(source: Path, tmp_path: Path) -> None:
    """The problem differs, the source has no buffer, or the method has none or an empty one."""
    other = attrs.evolve(tiny_config(problem="cvrp"), buffer_from=str(source))
    with pytest.raises(lco.ConfigError, match="expected a run on 'cvrp', got 'tsp'"):
        learn(prepare(other, tmp_path / "other"))
    plain = attrs.evolve(tiny_config("fine-tuning"), buffer_from=str(source))
    with pytest.raises(lco.ConfigError, match="expected a method with a buffer"):
        learn(prepare(plain, tmp_path / "plain"))
    nothing = attrs.evolve(tiny_config(buffer_size=0), buffer_from=str(source))
    with pytest.raises(lco.ConfigError, match="expected buffer_size above 0 to take exp"):
        learn(prepare(nothing, tmp_path / "nothing"))
    learn(prepare(tiny_config("fine-tuning"), tmp_path / "bufferless"))
    empty = attrs.evolve(tiny_config(), buffer_from=str(tmp_path / "bufferless"))
    with pytest.raises(lco.ConfigError, match="expected a run with a buffer"):
        learn(prepare(empty, tmp_path / "empty"))
    assert not (tmp_path / "empty").exists()


def test_empty_buffer_is_refused(tmp_path: Path) -> None:
    """A run that stopped before the last epoch of its first task has recorded nothing."""
    stopped_after(1, tiny_config(), tmp_path / "stopped")
    config = attrs.evolve(tiny_config(), buffer_from=str(tmp_path / "stopped"))
    with pytest.raises(lco.ConfigError, match=r"buffer_from \S+stopped: .*got an empty buffer"):
        learn(prepare(config, tmp_path / "run"))
    assert not (tmp_path / "run").exists()
