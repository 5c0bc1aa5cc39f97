"""Curves over the epochs of a run, compared with its cost matrix."""

from pathlib import Path

import attrs
import pytest
from tiny_runs import tiny_config, tiny_learn

from lifelong_co.experiments.comparison import curves
from lifelong_co.experiments.comparison.comparison import Comparison
from lifelong_co.experiments.comparison.runs import load_run


def test_curves_run_over_all_epochs_and_end_at_the_metrics(comparison: Comparison) -> None:
    """The gap curve ends at AP, and a task's segment starts with the tests made before it."""
    run = comparison.runs[2]
    gaps = curves.learned(run, comparison.best)
    assert gaps[-1][-1] == pytest.approx((12.0, comparison.metrics(run).AP))
    assert [x for x, _ in gaps[1]] == [4.0, 5.0, 6.0, 7.0, 8.0]
    assert curves.learned(run)[1][0][1] == pytest.approx((run.costs[0][0] + run.costs[0][1]) / 2)
    current = curves.current(run)
    assert current[0][0] == (1.0, run.tests[1, 1][1])
    assert current[2][0] == (8.0, run.costs[1][2])
    assert current[2][-1] == (12.0, run.costs[2][2])


def test_curve_of_a_task_separates_zero_shot_from_learned(comparison: Comparison) -> None:
    """A task is tested after each earlier task before its own start, which both parts share."""
    run = comparison.runs[0]
    before, after = curves.of_task(run, 3)
    assert before == [(4.0, run.costs[0][2]), (8.0, run.costs[1][2])]
    assert [x for x, _ in after] == [8.0, 9.0, 10.0, 11.0, 12.0]
    before, after = curves.of_task(run, 1)
    assert before == []
    assert [x for x, _ in after] == [float(x) for x in range(1, 13)]


def test_bands_join_the_epochs_that_all_seeds_tested() -> None:
    """A point that one seed lacks is left out; the others give mean and range."""
    found = curves.bands([[(1.0, 2.0), (2.0, 4.0)], [(2.0, 6.0), (3.0, 1.0)]])
    assert found == [curves.Band(2.0, 5.0, 4.0, 6.0)]


def test_curve_of_learned_tasks_leaves_out_tests_of_one_of_them(tmp_path: Path) -> None:
    """During a task, a method that restarts tests only that task: there is no mean of both."""
    config = attrs.evolve(tiny_config("restart"), curve_every=1)
    run = load_run(tiny_learn(config, tmp_path).folder.path)
    assert run.tests[2, 1].keys() == {2}
    for curve in (curves.learned(run), curves.learned(run, run.final)):
        assert [[x for x, _ in segment] for segment in curve] == [[1.0, 2.0], [2.0, 4.0]]
    assert [x for x, _ in curves.current(run)[1]] == [2.0, 3.0, 4.0]
