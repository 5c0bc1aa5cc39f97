"""The rows of a test, and the error of one that gives no cost."""

from pathlib import Path

import pytest
import torch
from tiny_runs import begun, tiny_config

from lifelong_co.errors import InvalidRolloutError, NotFiniteError
from lifelong_co.evaluation import mean_cost
from lifelong_co.runs.task_costs import task_costs


def test_rows_have_the_costs_of_the_solver_that_is_given(tmp_path: Path) -> None:
    """The place of the test is the caller's, not where the run stands."""
    run = begun(tmp_path, tiny_config())
    other = begun(tmp_path / "other", tiny_config(), seed=1).learner.solver
    rows = task_costs(run, other, learning=1, epoch=2, tasks=[1, 0])
    assert [(row.learning, row.epoch, row.tested, row.name) for row in rows] == [
        (2, 2, 2, "U6"),
        (2, 2, 1, "U5"),
    ]
    assert [row.cost for row in rows] == [mean_cost(other, run.tests[j]) for j in (1, 0)]


def test_solver_without_a_finite_cost_is_named_with_its_task(tmp_path: Path) -> None:
    """So is the moment of the test."""
    run = begun(tmp_path, tiny_config())
    for value in run.learner.solver.module.parameters():
        value.data.fill_(torch.nan)
    with pytest.raises((InvalidRolloutError, NotFiniteError)) as raised:
        task_costs(run, run.learner.solver, learning=0, epoch=2, tasks=[1])
    said = " ".join([str(raised.value), *getattr(raised.value, "__notes__", [])])
    assert "test of task U6 after epoch 2 of task U5" in said
