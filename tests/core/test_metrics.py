"""The metrics: cases computed by hand, and properties of every cost matrix."""

import math

import attrs
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tiny_costs import THREE, matrices

from lifelong_co import metrics
from lifelong_co.errors import ConfigError, UnknownNameError

# Two tasks, d* = (10, 20): gaps 0.1 and 0.5 after the first, 0.4 and 0 after the second.
TWO = [[11.0, 30.0], [14.0, 20.0]]


def test_metrics_of_two_tasks_by_hand() -> None:
    """With two tasks each average can be computed in the head."""
    found = metrics.summarize(TWO, [10.0, 20.0])
    expected = ((0.4 + 0.0) / 2, 0.4 - 0.1, 0.4 - 0.1, (0.1 + 0.0) / 2, 0.5)
    assert attrs.astuple(found) == pytest.approx(expected)


def test_metrics_of_three_tasks_by_hand() -> None:
    """Task 1 ends better than it began, but AMF counts its worst moment."""
    found = metrics.summarize(THREE, [10.0, 20.0, 40.0])
    expected = (
        (0.1 + 0.4 + 0.05) / 3,
        (0.0 + 0.3) / 2,
        (0.3 + 0.3) / 2,
        (0.2 + 0.1 + 0.05) / 3,
        (0.3 + 0.25) / 2,
    )
    assert attrs.astuple(found) == pytest.approx(expected)


def test_split_of_three_tasks_by_hand() -> None:
    """The gaps just after learning are .2, .1 and .05; at the end they are .1, .4 and .05."""
    found = metrics.split(THREE, [10.0, 20.0, 40.0])
    assert attrs.astuple(found) == pytest.approx((0.35 / 3, 0.3 / 3, 0.1 / 3))


@given(matrices())
def test_parts_of_ap_add_up(costs: np.ndarray) -> None:
    """Never learned is APl, and forgotten is AF over all tasks instead of all but the last."""
    best = costs.min(axis=0)
    of, parts = metrics.summarize(costs, best), metrics.split(costs, best)
    assert parts.never_learned + parts.forgotten - parts.gained_back == pytest.approx(
        of.AP, abs=1e-9
    )
    assert parts.never_learned == of.APl
    k = len(costs)
    if k > 1:
        assert parts.forgotten == pytest.approx(of.AF * (k - 1) / k)


def test_published_forgetting_ends_before_the_last_task() -> None:
    """The official script compares task 1 after task 2 only, and task 2 never."""
    found = metrics.summarize(THREE, [10.0, 20.0, 40.0], definition="published")
    assert pytest.approx([0.3 / 2, 0.3 / 2]) == [found.AF, found.AMF]
    text = metrics.summarize(THREE, [10.0, 20.0, 40.0])
    assert [found.AP, found.APl, found.AG] == [text.AP, text.APl, text.AG]


@given(matrices(2))
def test_published_forgetting_is_that_of_the_official_script(costs: np.ndarray) -> None:
    """AF and AMF equal the loops of ``compare_paper.py:134-185``, written out."""
    k, best = len(costs), costs.min(axis=0)
    average, most = [], []
    for i in range(k - 1):
        ends = [n for n in range(k) if n > i]  # after n tasks; the script multiplies by 200
        objectives = [costs[n - 1][i] for n in ends]
        average.append(max(0, objectives[-1] - objectives[0]) / best[i])
        most.append(max(0, max(objectives) - objectives[0]) / best[i])
    found = metrics.summarize(costs, definition="published")
    assert pytest.approx([np.mean(average), np.mean(most)]) == [found.AF, found.AMF]


def test_unknown_definition_is_refused() -> None:
    """The error lists the two definitions."""
    with pytest.raises(UnknownNameError, match=r"definition 'papers'.*text, published"):
        metrics.summarize(TWO, definition="papers")


def test_best_defaults_to_the_least_of_each_column() -> None:
    """Without d* a run is compared with the best costs that it reached itself."""
    assert metrics.summarize(THREE) == metrics.summarize(THREE, [11.0, 22.0, 42.0])


def test_single_task_has_no_af_amf_and_ag() -> None:
    """With one task AF, AMF and AG are averages over nothing: nan, and null in JSON."""
    found = metrics.summarize([[12.0]], [10.0])
    assert [found.AP, found.APl] == pytest.approx([0.2, 0.2])
    assert math.isnan(found.AF)
    assert math.isnan(found.AMF)
    assert math.isnan(found.AG)
    values = metrics.json_values(found)
    assert list(values) == ["AP", "AF", "AMF", "APl", "AG"]
    assert [name for name, value in values.items() if value is None] == ["AF", "AMF", "AG"]


def test_a_single_cost_without_best_has_no_metric() -> None:
    """It would be compared with itself, and AP would be 0 whatever the solver has learned."""
    assert all(map(math.isnan, attrs.astuple(metrics.summarize([[12.0]]))))
    assert all(map(math.isnan, attrs.astuple(metrics.split([[12.0]]))))


def test_tensors_arrays_and_lists_give_the_same_metrics() -> None:
    """The type of the numbers does not matter, nor that a tensor requires a gradient."""
    expected = metrics.summarize(THREE)
    tensor = torch.tensor(THREE, dtype=torch.float64, requires_grad=True)
    assert metrics.summarize(tensor) == expected
    assert metrics.summarize(np.array(THREE)) == expected
    assert metrics.summarize(THREE, torch.tensor([11.0, 22.0, 42.0])) == expected


@pytest.mark.parametrize(
    ("costs", "best", "said"),
    [
        ([[1.0, 2.0]], None, r"\[1, 2\]"),
        ([], None, r"\[0\]"),
        ([1.0, 2.0], None, r"\[2\]"),
        ([[1.0, 2.0], [3.0]], None, "rows of equal length"),
        ([["a"]], None, "numbers"),
        ([["1.0"]], None, "numbers"),
        ([[1.0 + 1j]], None, "complex"),
        (np.array([["2026-01-01"]], dtype="M8[D]"), None, "dates"),
        (np.array([["1.0", 2], [3, 4]], dtype=object), None, "texts"),
        ([np.ma.masked_equal([1.0, 2.0], 2.0), np.array([3.0, 4.0])], None, "masked"),
        (np.ma.masked_equal([[1.0, 2.0], [3.0, 4.0]], 4.0), None, "masked"),
        ([[1.0, math.nan], [1.0, 1.0]], None, r"nan in \[0\]\[1\]"),
        ([[1.0, 1.0], [math.inf, 1.0]], None, r"inf in \[1\]\[0\]"),
        ([[1.0]], [1.0, 2.0], r"shape \[1\] for 1 tasks, got \[2\]"),
        ([[1.0]], [0.0], "above 0"),
        ([[1.0]], [-1.0], "above 0"),
        ([[1.0]], [math.nan], "finite"),
        ([[-1.0]], None, "above 0"),
    ],
)
def test_impossible_matrices_are_refused(costs: object, best: object, said: str) -> None:
    """A wrong cost matrix or a wrong d* is refused, and the message says what is wrong."""
    with pytest.raises(ConfigError, match=said):
        metrics.summarize(costs, best)


def test_gaps_of_different_tasks_are_not_split() -> None:
    """A broadcast would give a wrong number."""
    for learned, final in (([0.1, 0.2, 0.3], [0.5]), ([0.1, 0.2], [0.1, 0.2, 0.3]), (0.1, 0.2)):
        with pytest.raises(ConfigError, match=r"gaps: expected two rows \[k\], got"):
            metrics.split_gaps(learned, final)


@given(matrices(least=2))
def test_own_best_makes_all_metrics_at_least_zero(costs: np.ndarray) -> None:
    """No gap to a run's best costs is negative; the worst moment is at least as bad as the last."""
    found = metrics.summarize(costs)
    assert min(found.AP, found.AF, found.AMF, found.APl, found.AG) >= 0
    assert found.AF <= found.AMF


@given(matrices(), st.data())
def test_metrics_do_not_depend_on_the_unit_of_costs(costs: np.ndarray, data: st.DataObject) -> None:
    """Costs of one task in another unit change nothing."""
    k = len(costs)
    scale = data.draw(hnp.arrays(np.float64, (k,), elements=st.floats(0.01, 100)))
    one, two = metrics.summarize(costs), metrics.summarize(costs * scale)
    for name in metrics.NAMES:
        assert getattr(two, name) == pytest.approx(getattr(one, name), abs=1e-9, nan_ok=True)


@given(matrices(least=3), st.data())
def test_metrics_read_only_the_cells_of_their_formulas(
    costs: np.ndarray, data: st.DataObject
) -> None:
    """AP reads the last row, APl the diagonal and AG the cells above it: others may change."""
    k = len(costs)
    best = costs.min(axis=0)
    i, j = data.draw(st.tuples(st.integers(0, k - 1), st.integers(0, k - 1)))
    changed = costs.copy()
    changed[i, j] += 1.0
    one, two = metrics.summarize(costs, best), metrics.summarize(changed, best)
    assert (one.AP != two.AP) == (i == k - 1)
    assert (one.APl != two.APl) == (i == j)
    assert (one.AG != two.AG) == (j == i + 1)
    if j > i:  # no forgetting before learning
        assert (one.AF, one.AMF) == (two.AF, two.AMF)


@given(matrices(least=2))
def test_better_reference_never_improves_metrics(costs: np.ndarray) -> None:
    """With a lower d* from other runs, AP, APl and AG can only grow."""
    own = costs.min(axis=0)
    one, two = metrics.summarize(costs, own), metrics.summarize(costs, own * 0.9)
    assert two.AP > one.AP
    assert two.APl > one.APl
    assert two.AG > one.AG


def test_solver_that_only_improves_forgets_nothing() -> None:
    """AF and AMF are 0 if every task only gets better, at any distance to d*."""
    found = metrics.summarize([[3.0, 5.0], [2.0, 4.0]], [1.0, 1.0])
    assert (found.AF, found.AMF) == (0.0, 0.0)
    assert (found.AP, found.APl, found.AG) == (2.0, 2.5, 4.0)
