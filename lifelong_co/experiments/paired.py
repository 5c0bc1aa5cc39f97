"""Paired tests: the mean difference of two methods with the same seeds, its interval and p.

The differences of the pairs are taken as a normal sample (Student's paired t-test).
"""

import math
import statistics
from collections.abc import Mapping, Sequence

import attrs

from lifelong_co.experiments.spread import beyond, half_width

ALIKE = "with one kind of device and number of processes"
"""What runs share that draw the same instances from a seed, for messages."""

LEAST_SEEDS = 3
"""With two seeds the interval has 12.7 standard errors; such a test shows nothing."""

Seed = tuple[int, str]
"""A seed, and what else decides the instances: ``cpu``, ``cuda`` or, say, ``cuda, 2 processes``."""

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

    A seed counts only if both methods have all these orders with it, each with one kind
    of device and number of processes. It counts twice if they have them with two of these.
    """
    apart: dict[str, dict[int, list[float]]] = {}
    for (order, seed), value in first.items():
        if (order, seed) in second:
            of_order = apart.setdefault(order, {})
            of_order.setdefault(seed[0], []).append(value - second[order, seed])
    numbers = dict.fromkeys(number for of_order in apart.values() for number in of_order)
    return [
        statistics.fmean(each)
        for number in numbers
        for each in zip(*(of_order.get(number, []) for of_order in apart.values()), strict=False)
    ]


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
