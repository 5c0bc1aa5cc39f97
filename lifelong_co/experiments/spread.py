"""Means with standard deviations, and confidence intervals by Student's t.

It does not need scipy: the distribution has a closed form for whole degrees of freedom.
"""

import math
import statistics
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import attrs

from lifelong_co.experiments.sheet import SCALE, THOUSANDTHS, Cell

S = TypeVar("S", bound=Hashable)

LEVEL = 0.95
"""Level of the confidence intervals."""

OVER_SEEDS = (THOUSANDTHS, f"std_{THOUSANDTHS}")
"""Endings of the CSV columns of a metric over seeds: mean, standard deviation."""

OVER_ORDERS = (
    THOUSANDTHS,
    f"std_orders_{THOUSANDTHS}",
    f"ci{LEVEL * 100:.0f}_seeds_{THOUSANDTHS}",
)
"""Endings of the CSV columns of a metric over orders and seeds: mean, deviation, interval."""


@attrs.frozen
class Spread:
    """A mean with its variation, as plain fractions."""

    mean: float
    """``nan`` if it is not defined."""
    deviation: float | None = None
    """Standard deviation; None for a single value."""
    interval: float | None = None
    """Half-width of the confidence interval over seeds; None for one seed."""


def spread(values: Iterable[float | None], definition: str = "text") -> Spread:
    """Return mean and standard deviation of all values except None.

    The mean is ``nan`` if there is no such value, or one of them is ``nan``.

    Parameters
    ----------
    values
        Plain fractions.
    definition
        ``text``: the sample deviation, divided by ``n - 1``. ``published``: the population
        deviation, divided by ``n``, as in the paper's table 1 (the last lines of
        ``compare_paper.py``).
    """
    known = [value for value in values if value is not None]
    if not known or any(map(math.isnan, known)):
        return Spread(math.nan)
    deviation = statistics.pstdev if definition == "published" else statistics.stdev
    return Spread(statistics.fmean(known), deviation(known) if len(known) > 1 else None)


def over_orders(values: Mapping[tuple[str, S], float], definition: str = "text") -> Spread:
    """Return the spread of a metric over orders and seeds; without values: `nan`.

    Mean and deviation (see `spread`) are those of the means of the orders. The interval is computed
    from the means of the seeds. It uses only seeds with all orders: others would add differences
    between orders.
    """
    if any(map(math.isnan, values.values())):
        return Spread(math.nan)
    orders = list(dict.fromkeys(order for order, _ in values))
    seeds = list(dict.fromkeys(seed for _, seed in values))
    complete = [
        statistics.fmean(values[order, seed] for order in orders)
        for seed in seeds
        if all((order, seed) in values for order in orders)
    ]
    means = (statistics.fmean(v for (of, _), v in values.items() if of == o) for o in orders)
    return attrs.evolve(spread(means, definition), interval=half_width(complete))


def show(value: Spread, scale: float = SCALE, digits: int = 1) -> str:
    """Return ``mean (s) ± c``, each times ``scale``; a dash if the mean is not defined."""
    if math.isnan(value.mean):
        return "-"
    deviation = "" if value.deviation is None else f" ({value.deviation * scale:.{digits}f})"
    interval = "" if value.interval is None else f" ± {value.interval * scale:.{digits}f}"
    return f"{value.mean * scale:.{digits}f}{deviation}{interval}"


def cell(
    value: Spread, names: Sequence[str] = OVER_SEEDS, *, scale: float = SCALE, digits: int = 1
) -> Cell:
    """Return a cell with the text of `show`, and a CSV column for each number.

    Parameters
    ----------
    value
        Plain fractions.
    names
        Endings of the CSV columns of mean, deviation and interval; the last may be missing.
    scale
        Factor of all numbers.
    digits
        Decimal places of the text; CSV has six significant digits.
    """
    numbers = dict(zip(names, attrs.astuple(value), strict=False))
    parts = {
        name: "" if v is None or math.isnan(v) else f"{v * scale:.6g}"
        for name, v in numbers.items()
    }
    rank = None if math.isnan(value.mean) else round(value.mean * scale, digits)
    return Cell(show(value, scale, digits), parts, rank)


def two_sided(angle: float, freedom: int) -> float:
    """Return ``P(|T| <= t)`` for ``t = sqrt(freedom) tan(angle)``.

    Source: Abramowitz and Stegun (1964), 26.7.3 and 26.7.4.

    Parameters
    ----------
    angle
        In ``[0, pi / 2]``.
    freedom
        Degrees of freedom, at least 1.
    """
    term = total = math.cos(angle) if freedom % 2 else 1.0
    for i in range(3 if freedom % 2 else 2, freedom - 1, 2):
        term *= math.cos(angle) ** 2 * (i - 1) / i
        total += term
    if freedom % 2 == 0:
        return math.sin(angle) * total
    return 2 / math.pi * (angle + (math.sin(angle) * total if freedom > 1 else 0.0))


def beyond(t: float, freedom: int) -> float:
    """Return ``P(|T| > t)``, also where `two_sided` is 1 up to rounding.

    Source: Abramowitz and Stegun (1964), 26.7.1, with the series 26.5.4 of the incomplete beta
    function: all its terms are positive.

    Parameters
    ----------
    t
        At least 0.
    freedom
        Degrees of freedom, at least 1.
    """
    p = 1 - two_sided(math.atan(t / math.sqrt(freedom)), freedom)
    if p > 1e-6:
        return p
    x, half = freedom / (freedom + t * t), freedom / 2
    term, total, i = 1.0, 0.0, 0
    while term > 1e-17 * total:
        total += term * half / (half + i)
        term *= (i + 0.5) / (i + 1) * x
        i += 1
    beta = math.exp(math.lgamma(half) + math.lgamma(0.5) - math.lgamma(half + 0.5))
    return float(x**half * total / (half * beta))


def quantile(level: float, freedom: int) -> float:
    """Return the ``t`` with ``P(|T| <= t) = level``, a level in ``(0, 1)``."""
    low, high = 0.0, math.pi / 2
    for _ in range(60):  # halved to the last bit of a double
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided(middle, freedom) < level else (low, middle)
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def half_width(values: Sequence[float]) -> float | None:
    """Return the half-width of the mean's confidence interval; None for less than two values.

    The values are a normal sample.
    """
    n = len(values)
    if n < 2:
        return None
    return quantile(LEVEL, n - 1) * statistics.stdev(values) / math.sqrt(n)
