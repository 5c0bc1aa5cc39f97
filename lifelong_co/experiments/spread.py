"""How far numbers vary: standard deviations, and confidence intervals by Student's t.

Written without scipy: the distribution has a closed form for whole degrees of freedom.
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

import attrs

from lifelong_co.experiments.sheet import SCALE, THOUSANDTHS, Cell

LEVEL = 0.95
"""Of the confidence intervals."""

OVER_SEEDS = (THOUSANDTHS, f"std_{THOUSANDTHS}")
"""How the CSV columns of a metric end: its mean, and its deviation over seeds."""

OVER_ORDERS = (
    THOUSANDTHS,
    f"std_orders_{THOUSANDTHS}",
    f"ci{LEVEL * 100:.0f}_seeds_{THOUSANDTHS}",
)
"""The same of a metric over orders and seeds."""


@attrs.frozen
class Spread:
    """A mean and how far it varies, as plain fractions."""

    mean: float
    """``nan`` where it is not defined."""
    deviation: float | None = None
    """Sample standard deviation; None for a single value."""
    interval: float | None = None
    """Half-width of the confidence interval over seeds; None for one seed."""


def spread(values: Iterable[float | None]) -> Spread:
    """Return mean and sample standard deviation of the values that are known.

    The mean is ``nan`` where none is known, or one is ``nan``.
    """
    known = [value for value in values if value is not None]
    if not known or any(map(math.isnan, known)):
        return Spread(math.nan)
    return Spread(statistics.fmean(known), statistics.stdev(known) if len(known) > 1 else None)


def over_orders(values: Mapping[tuple[str, int], float]) -> Spread:
    """Return the spread of a metric by order and seed, at least one value.

    The mean is that of the orders' means, the deviation that of these means. Only seeds that have
    all orders enter the interval: else it would hold differences between orders.
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
    return attrs.evolve(spread(means), interval=half_width(complete))


def show(value: Spread, scale: float = SCALE, digits: int = 1) -> str:
    """Return ``mean (s) ± c`` times the scale, 10^-3 by default; a dash where not defined."""
    if math.isnan(value.mean):
        return "-"
    deviation = "" if value.deviation is None else f" ({value.deviation * scale:.{digits}f})"
    interval = "" if value.interval is None else f" ± {value.interval * scale:.{digits}f}"
    return f"{value.mean * scale:.{digits}f}{deviation}{interval}"


def cell(
    value: Spread, names: Sequence[str] = OVER_SEEDS, *, scale: float = SCALE, digits: int = 1
) -> Cell:
    """Return a cell that shows `show`, with a column of CSV for each number.

    Parameters
    ----------
    value
        Plain fractions.
    names
        How the columns of the mean, the deviation and the interval end; the last may be left out.
    scale, digits
        Of what is shown; CSV has six digits.
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

    Abramowitz and Stegun (1964), 26.7.3 and 26.7.4.

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


def quantile(level: float, freedom: int) -> float:
    """Return the ``t`` with ``P(|T| <= t) = level``, a level in ``(0, 1)``."""
    low, high = 0.0, math.pi / 2
    for _ in range(60):  # halved to the last bit of a double
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided(middle, freedom) < level else (low, middle)
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def half_width(values: Sequence[float], level: float = LEVEL) -> float | None:
    """Return half the confidence interval of the mean of a normal sample; None below two values."""
    n = len(values)
    if n < 2:
        return None
    return quantile(level, n - 1) * statistics.stdev(values) / math.sqrt(n)
