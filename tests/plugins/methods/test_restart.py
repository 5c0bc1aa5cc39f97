"""Restart: each task is learned as if it were the first."""

from pathlib import Path

import attrs
import pytest
from tiny_runs import parameters, same, tiny_config, tiny_learn
from torch import Tensor

from lifelong_co.config.run_config import Config
from lifelong_co.experiments.comparison import curves
from lifelong_co.experiments.comparison.runs import load_run
from lifelong_co.learner import learn
from lifelong_co.runs.prepare import prepare


@pytest.fixture
def config() -> Config:
    """Return a run of two tasks, the first of three epochs, tested after every epoch."""
    found = tiny_config("restart", "cvrp")
    tasks = (attrs.evolve(found.tasks[0], epochs=3), *found.tasks[1:])
    return attrs.evolve(found, tasks=tasks, curve_every=1)


def test_every_task_starts_with_the_first_parameters(
    tmp_path: Path, beginnings: list[dict[str, Tensor]]
) -> None:
    """Before each task the parameters are those before the first task."""
    run = tiny_learn(tiny_config("restart", sizes=(5, 6, 5)), tmp_path)
    assert len(beginnings) == 3
    assert same(beginnings[0], beginnings[1])
    assert same(beginnings[0], beginnings[2])
    assert not same(beginnings[0], parameters(run))


def test_task_is_learned_the_same_in_every_order(config, tmp_path):
    """The costs during the task and after it are the same bits."""
    found = []
    for i, tasks in enumerate((config.tasks, config.tasks[::-1])):
        run = learn(prepare(attrs.evolve(config, tasks=tasks), tmp_path / str(i)))
        costs = {(tasks[c.learning - 1].label, c.epoch, c.name): c.cost for c in run.costs}
        assert len(costs) == len(run.costs)
        found.append(costs)
    assert found[0] == found[1]


def test_only_the_present_task_is_tested_during_a_task(config, tmp_path):
    """Its curve has every test; the mean over learned tasks has the tests after tasks."""
    learn(prepare(config, tmp_path / "run"))
    run = load_run(tmp_path / "run")
    start, end = (float(epoch) for epoch in curves.boundaries(run)[1:])
    epochs = [start + i for i in range(config.tasks[1].epochs + 1)]
    assert [x for x, _ in curves.current(run)[1]] == epochs
    assert [x for x, _ in curves.learned(run)[1]] == [start, end]
