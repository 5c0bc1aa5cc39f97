"""Means, deviations and confidence intervals, compared with scipy and by hand."""

import math

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from lifelong_co.experiments import spread


@given(level=st.floats(0.01, 0.999), freedom=st.integers(1, 60))
def test_students_t_has_the_known_quantiles(level, freedom):
    """The quantiles are scipy's."""
    expected = scipy.stats.t.ppf((1 + level) / 2, freedom)
    assert spread.quantile(level, freedom) == pytest.approx(expected, rel=1e-9)


def test_the_interval_by_hand():
    """For 1, 2, 3: t is 4.3027 at two degrees of freedom, over the root of three."""
    assert spread.half_width([1.0, 2.0, 3.0]) == pytest.approx(4.302652730 / math.sqrt(3))
    assert spread.half_width([1.0]) is None


def test_the_spread_by_hand():
    """Orders' means 2 and 5; seeds' means 3 and 4, of which half the interval is t(1) / 2."""
    values = {("1", 0): 1.0, ("1", 1): 3.0, ("2", 0): 5.0, ("2", 1): 5.0}
    found = spread.over_orders(values)
    assert found.mean == 3.5
    assert found.deviation == pytest.approx(math.sqrt(4.5))
    assert found.interval == pytest.approx(12.70620474 / 2)
    # A seed without all orders counts for the mean of an order, and not for the interval.
    assert spread.over_orders({**values, ("1", 2): 5.0}) == spread.Spread(
        4.0, math.sqrt(2), found.interval
    )
    assert spread.over_orders({("1", 0): 0.5}) == spread.Spread(0.5, None, None)


def test_published_deviation_is_that_of_the_population():
    """For 1, 2, 3 it is the root of 2/3; the text's is 1."""
    assert spread.spread([1.0, 2.0, 3.0]).deviation == pytest.approx(1)
    published = spread.spread([1.0, 2.0, 3.0], "published")
    assert published == spread.Spread(2.0, pytest.approx(math.sqrt(2 / 3)))
    assert spread.spread([1.0], "published").deviation is None
    orders = {("1", 0): 1.0, ("2", 0): 2.0, ("3", 0): 3.0}
    assert spread.over_orders(orders, "published").deviation == published.deviation
