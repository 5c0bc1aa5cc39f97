"""Costs with holes: metrics of what was measured, and ``metrics.json``."""

import math

import attrs
import numpy as np
import pytest
from hypothesis import given
from tiny_costs import CONFIG, MATRIX, THREE, costs, matrices

from lifelong_co import metrics
from lifelong_co.errors import UnknownNameError
from lifelong_co.runs import measured


def rows_of(costs: np.ndarray, *, next_only: bool) -> list[dict[int, float]]:
    """Return the costs of a matrix that a run measures, by task."""
    k = len(costs)
    kept = [range(k) if i == k - 1 or not next_only else range(i, i + 2) for i in range(k)]
    return [{j: float(costs[i, j]) for j in row} for i, row in enumerate(kept)]


@given(matrices())
def test_metrics_of_a_full_matrix_by_rows_are_the_same(costs: np.ndarray) -> None:
    """They are so for both definitions."""
    rows = rows_of(costs, next_only=False)
    for definition in metrics.DEFINITIONS:
        expected = attrs.astuple(metrics.summarize(costs, definition=definition))
        found = measured.summarize(rows, definition=definition)
        np.testing.assert_array_equal(attrs.astuple(found), expected)


@given(matrices(3))
def test_metrics_that_need_only_measured_costs_are_exact(costs: np.ndarray) -> None:
    """With the same d*, AP, AF, APl and AG are those of the full matrix; AMF is not measured."""
    best = costs.min(axis=0).tolist()
    whole = metrics.summarize(costs, best)
    found = measured.summarize(rows_of(costs, next_only=True), best)
    for name in ("AP", "AF", "APl", "AG"):
        assert getattr(found, name) == getattr(whole, name)
    assert math.isnan(found.AMF)


def test_only_complete_rows_count() -> None:
    """Tests during a task do not count, nor does a task without all tests that were due."""
    rows = [dict(enumerate(row)) for row in MATRIX]
    assert measured.cost_rows(costs(), CONFIG) == rows
    assert measured.cost_rows(costs()[:-1], CONFIG) == rows[:1]
    assert measured.cost_rows(costs()[:1], CONFIG) == []


def test_method_that_knows_all_tasks_has_no_forgetting() -> None:
    """Only AP has a meaning for such a method."""
    rows = [dict(enumerate(row)) for row in MATRIX]
    for method, meaning in (("multi-task-epoch", False), ("fine-tuning", True)):
        found = measured.content(rows, attrs.evolve(CONFIG, method=method))["metrics"]
        assert found["AP"] is not None
        assert (found["AF"] is not None) == meaning


def test_published_forgetting_needs_tests_that_are_not_taken() -> None:
    """It ends with the last task but one, after which earlier tasks are not tested."""
    rows = rows_of(np.array(THREE), next_only=True)
    found = measured.summarize(rows, [10.0, 20.0, 40.0], definition="published")
    assert math.isnan(found.AF)
    assert math.isnan(found.AMF)
    assert found.AP == metrics.summarize(THREE, [10.0, 20.0, 40.0]).AP


def test_best_of_some_costs_is_the_lowest_measured_one() -> None:
    """Task 1 was never cheaper than at its end; task 3 was cheaper, but it was not tested then."""
    rows = rows_of(np.array([[12.0, 26.0, 30.0], [9.0, 22.0, 50.0], [11.0, 28.0, 42.0]]),
                    next_only=True)  # fmt: skip
    assert measured.least(rows) == {0: 11.0, 1: 22.0, 2: 42.0}
    assert pytest.approx((28 / 22 - 1) / 3) == measured.summarize(rows).AP


def test_rows_of_an_unknown_definition_are_refused() -> None:
    """The message names the known ones."""
    rows = rows_of(np.array(THREE), next_only=True)
    with pytest.raises(UnknownNameError, match="definition"):
        measured.summarize(rows, definition="other")
