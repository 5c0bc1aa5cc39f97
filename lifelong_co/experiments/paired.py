"""Paired tests: the mean difference of two methods with the same seeds, its interval and p.

The differences of the pairs are taken as a normal sample (Student's paired t-test).
"""

import math
import statistics
from collections.abc import Mapping, Sequence

import attrs

from lifelong_co.experiments.spread import beyond, half_width

LEAST_SEEDS = 3
"""With two seeds the interval has 12.7 standard errors; such a test shows nothing."""

Seed = tuple[int, str]
"""A seed, and ``cpu`` or ``cuda``: another kind of device draws other instances from a seed."""

Values = Mapping[tuple[str, Seed], float]
"""A metric by order and seed."""


@attrs.frozen
class Difference:
    """The mean difference of two methods over the seeds that both have."""

    seeds: int
    """Number of pairs."""
    mean: float
    """``nan`` if the metric has no meaning for one of the methods."""
    interval: float = math.nan
    """Half-width of the 95 % confidence interval."""
    p: float = math.nan
    """Two-sided: the probability of a mean at least so far from 0 if there is no difference."""


def pairs(first: Values, second: Values) -> list[float]:
    """Return one difference for each seed: the mean over the orders that both methods have.

    A seed counts only if both methods have all these orders with it.
    """
    orders = dict.fromkeys(order for order, _ in first if order in {of for of, _ in second})
    seeds = dict.fromkeys(seed for _, seed in first) if orders else dict[Seed, None]()
    common = [s for s in seeds if all((o, s) in first and (o, s) in second for o in orders)]
    return [statistics.fmean(first[o, s] - second[o, s] for o in orders) for s in common]


def difference(first: Values, second: Values) -> Difference:
    """Test the difference ``first - second``; below `LEAST_SEEDS` pairs nothing is computed."""
    apart = pairs(first, second)
    n = len(apart)
    if n < LEAST_SEEDS or any(map(math.isnan, apart)):
        return Difference(n, math.nan)
    mean, interval = statistics.fmean(apart), half_width(apart)
    assert interval is not None  # there are several pairs
    error = statistics.stdev(apart) / math.sqrt(n)
    if error == 0:
        return Difference(n, mean, 0.0, float(mean == 0))
    return Difference(n, mean, interval, beyond(abs(mean) / error, n - 1))


def holm(ps: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number (Holm 1979); ``nan`` stays and does not count.

    The ``i``-th smallest of ``m``, from 0, is multiplied by ``m - i``; none is below a smaller one,
    and none above 1.
    """
    order = sorted((i for i, p in enumerate(ps) if not math.isnan(p)), key=lambda i: ps[i])
    corrected = list(ps)
    highest = 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * ps[i]))
        corrected[i] = highest
    return corrected
