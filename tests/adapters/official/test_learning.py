"""LLR-BC takes the same steps with the official network and with ours, including replay."""

from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from tiny_runs import exact_run, tiny_config
from upstreams import official

from lifelong_co.learner import train_epoch
from lifelong_co.runs.run import Run, new_optimizer

pytestmark = official


def losses(run: Run) -> list[dict[str, float]]:
    """Learn both tasks of a run and return the losses of every step."""
    seen: list[dict[str, float]] = []
    learner = run.learner
    for learner.task in (0, 1):
        learner.optimizer = new_optimizer(run.config, learner)
        run.method.before_task(learner)
        for epoch in range(run.config.tasks[learner.task].epochs):
            learner.epoch, learner.batch = epoch, 0
            train_epoch(run, lambda: False, lambda _, values: seen.append(_numbers(values)))
    return seen


def _numbers(values: dict[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in values.items()}


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_learning_and_replay_agree_with_the_official_network(problem: str, tmp_path: Path) -> None:
    """From the same parameters, all losses of two tasks agree to 1e-8 in float64."""
    config = tiny_config(
        problem=problem, behavior="probabilities", alpha=3.0, replay_size=4, replay_rows=0.5
    )
    theirs = exact_run(attrs.evolve(config, solver="official-pomo"), tmp_path)
    ours = exact_run(config, tmp_path)
    ours.learner.solver.load_official(theirs.learner.solver.module.state_dict())
    got, want = losses(ours), losses(theirs)
    assert [step.keys() for step in got] == [step.keys() for step in want]
    assert all(step["consolidation"] > 0 for step in want[-4:])
    for first, second in zip(got, want, strict=True):
        for name, value in second.items():
            torch.testing.assert_close(first[name], value, rtol=1e-8, atol=1e-8)
