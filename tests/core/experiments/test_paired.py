"""Paired tests: numbers of scipy, Holm's correction by hand, and what is paired."""

import math
import statistics

import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

from lifelong_co.experiments.paired import Difference, Seed, difference, holm, pairs
from lifelong_co.experiments.spread import beyond

OURS = [11.9, 11.6, 13.1, 12.4, 10.8]
# The second sample, then mean, half-width and p of `scipy.stats.ttest_rel` 1.16 (5 pairs).
GOLDEN = [
    (
        [6.4, 3.1, 7.0, 12.6, 5.2],
        (-5.1000000000000005, 3.9781720874955804, 0.023598914623622073),
    ),
    (
        [11.5, 11.9, 12.9, 12.6, 10.7],
        (-0.040000000000000216, 0.35771992844701117, 0.7717151268489582),
    ),
]


def of_seeds(values: list[float], order: str = "1") -> dict[tuple[str, Seed], float]:
    """Return values by order and seed."""
    return {(order, (seed, "cpu")): value for seed, value in enumerate(values)}


@pytest.mark.parametrize(("sample", "golden"), GOLDEN)
def test_difference_has_the_numbers_of_scipy(
    sample: list[float], golden: tuple[float, float, float]
) -> None:
    """Mean, interval and p-value."""
    found = difference(of_seeds(sample), of_seeds(OURS))
    assert found.seeds == 5
    assert (found.mean, found.interval, found.p) == pytest.approx(golden, rel=1e-12)


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=3, max_size=12),
)
def test_p_value_is_that_of_scipy(values: list[tuple[float, float]]) -> None:
    """For any number of pairs."""
    first, second = map(list, zip(*values, strict=True))
    apart = [a - b for a, b in values]
    assume(statistics.stdev(apart) > 1e-6 * (1 + max(map(abs, apart))))
    found = difference(of_seeds(first), of_seeds(second))
    assert found.p == pytest.approx(scipy.stats.ttest_rel(first, second).pvalue, rel=1e-9)


@given(st.integers(1, 40), st.floats(0, 1e6))
def test_least_probabilities_are_those_of_scipy(freedom: int, t: float) -> None:
    """None is 0 only because 1 minus it is 1."""
    wanted = 2 * scipy.stats.t.sf(t, freedom)
    assert beyond(t, freedom) == pytest.approx(wanted, rel=1e-8)


def test_few_pairs_are_counted_and_not_tested() -> None:
    """Two seeds are too few, and so is a metric without meaning."""
    found = difference(of_seeds([1.0, 2.0]), of_seeds(OURS))
    assert found.seeds == 2
    assert math.isnan(found.mean)
    assert math.isnan(found.p)
    assert math.isnan(difference(of_seeds([math.nan] * 3), of_seeds(OURS)).p)


def test_equal_differences_need_no_interval() -> None:
    """Without any spread there is a difference for certain, or none."""
    ones = of_seeds([1.0] * 3)
    assert difference(ones, ones) == Difference(3, 0.0, 0.0, 1.0)
    assert difference(of_seeds([3.0] * 3), ones) == Difference(3, 2.0, 0.0, 0.0)


def test_pairs_are_of_one_kind_of_device_in_each_order() -> None:
    """A seed with both kinds in all orders counts twice; a kind that one method lacks does not."""
    cpu, gpu = (0, "cpu"), (0, "cuda")
    here = {("1", cpu): 1.0, ("1", gpu): 2.0, ("2", gpu): 5.0}
    there = {("1", cpu): 0.0, ("1", gpu): 0.0, ("2", gpu): 1.0}
    assert pairs(here, there) == [(1 + 4) / 2]
    assert pairs({("1", cpu): 1.0, ("1", gpu): 2.0}, there) == [1.0, 2.0]
    assert pairs({("1", cpu): 1.0, ("2", cpu): 2.0}, there) == [1.0]
    assert pairs({("1", gpu): 1.0}, {("1", cpu): 1.0}) == []


def test_pairs_have_the_same_seed_and_the_same_orders() -> None:
    """A seed without one of the common orders does not count; other orders do not either."""
    a, b, c = ((seed, "cpu") for seed in range(3))
    first = {("1", a): 1.0, ("2", a): 5.0, ("1", b): 2.0, ("2", b): 2.0, ("3", a): 9.0}
    second = {("1", a): 0.0, ("2", a): 1.0, ("1", b): 0.0, ("1", c): 0.0}
    assert pairs(first, second) == [2.5]
    assert pairs(first, {("4", a): 1.0}) == []


def test_holm_by_hand() -> None:
    """The example of Holm's method with four tests; a missing one does not count."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    corrected = holm([0.5, math.nan, 0.6])
    assert corrected[::2] == [1.0, 1.0]
    assert math.isnan(corrected[1])
    assert holm([]) == []
