"""Runs with each objective: they learn, resume to the same bits, and reach replay."""

from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from lifelong_co_plugins.methods.instance_replay.objective import ReplayObjective
from tiny_invit import TINY
from tiny_runs import parameters, same, stopped_and_resumed, tiny_config, tiny_learn
from upstreams import official

import lifelong_co as lco
from lifelong_co import registry
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import start

OBJECTIVES = registry.names("objective")


def config_of(objective: str, method: str = "feng", **changes: Any) -> Any:
    """Return a tiny run with an objective; its method replays instances."""
    problem = changes.pop("problem", "tsp")
    return attrs.evolve(tiny_config(method, problem), objective=objective, **changes)


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("solver", ["pomo", "omni"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_run_resumes_to_the_same_bits(
    objective: str, solver: str, problem: str, tmp_path: Path
) -> None:
    """The parameters change, are finite, and do not depend on an interruption."""
    config = config_of(objective, solver=solver, problem=problem)
    whole = tiny_learn(config, tmp_path)
    resumed = stopped_and_resumed(config, tmp_path, after=5)
    assert same(parameters(whole), parameters(resumed))
    assert all(value.isfinite().all() for value in parameters(whole).values())
    assert not same(parameters(whole), whole.learner.initial)


@official
@pytest.mark.parametrize("solver", ["official-pomo", "official-omni"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_official_classes_learn(objective: str, solver: str, tmp_path: Path) -> None:
    """The parameters change, and are finite."""
    run = tiny_learn(config_of(objective, solver=solver, problem="cvrp"), tmp_path)
    assert all(value.isfinite().all() for value in parameters(run).values())
    assert not same(parameters(run), run.learner.initial)


@pytest.mark.parametrize("changes", [{"one_pass": True}, {"precision": "bfloat16"}])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_one_pass_and_bfloat16_learn(
    objective: str, changes: dict[str, Any], tmp_path: Path
) -> None:
    """The policy loss is finite in each epoch and in single precision."""
    run = tiny_learn(config_of(objective, "fine-tuning", **changes), tmp_path)
    assert all(torch.tensor(epoch["losses"]["policy"]).isfinite() for epoch in run.history)


def test_objectives_and_their_options_differ(tmp_path: Path) -> None:
    """Each choice reaches the loss; ``reinforce`` is the default."""
    runs = [config_of(name) for name in OBJECTIVES]
    runs.append(config_of("preference", objective_options={"beta": 0.5}))
    found = [parameters(tiny_learn(config, tmp_path / str(i))) for i, config in enumerate(runs)]
    assert not any(same(one, two) for i, one in enumerate(found) for two in found[:i])
    assert same(found[0], parameters(tiny_learn(tiny_config("feng"), tmp_path / "default")))


def test_replayed_instances_are_learned_by_the_objective_of_the_run(tmp_path: Path) -> None:
    """Not by the solver's: their loss is that of the same rollout under the preference."""
    config = config_of("preference", objective_options={"beta": 0.5})
    learner = start(config, RunFolder(tmp_path / "run")).learner
    instances = learner.draw(0)
    found = ReplayObjective().loss(learner, instances, "of task 0")
    learner.objective = lambda solver: lco.objective("preference", solver, beta=0.5)
    assert torch.equal(ReplayObjective().loss(learner, instances, "of task 0"), found)
    learner.objective = lambda solver: solver.objective()
    assert not torch.equal(ReplayObjective().loss(learner, instances, "of task 0"), found)


@pytest.mark.parametrize("objective", OBJECTIVES[1:])
def test_invit_is_refused_before_it_learns(objective: str, tmp_path: Path) -> None:
    """It samples one trajectory for each instance."""
    config = config_of(objective, "fine-tuning", solver="invit", solver_options=dict(TINY))
    run = prepare(config, tmp_path / "run")
    with pytest.raises(lco.ConfigError, match=f"objective '{objective}': .*at least 2"):
        tiny_learn(config, tmp_path / "again")
    assert run.steps == 0
    assert list((tmp_path / "again" / "run" / "checkpoints").glob("*.safetensors")) == []


def test_wrong_objective_is_refused_before_the_folder_exists(tmp_path: Path) -> None:
    """By name, as everywhere."""
    for objective, match in (("preferense", "Did you mean 'preference'"), ("reinforce", "beta")):
        config = config_of(objective, objective_options={"beta": 0.5})
        with pytest.raises(lco.LifelongError, match=match):
            prepare(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()
