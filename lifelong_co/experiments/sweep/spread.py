"""How far a number varies over the orders and the seeds of a row of runs."""

import math
import statistics
from collections.abc import Mapping

import attrs

from lifelong_co.experiments.comparison.tables import SCALE
from lifelong_co.experiments.sweep.student import half_width


@attrs.frozen
class Spread:
    """A metric or a gap of a row, as plain fractions."""

    mean: float
    orders: float | None
    """Sample standard deviation of the orders' means; None for one order."""
    seeds: float | None
    """Half-width of the confidence interval over the seeds; None for one seed."""


def spread(values: Mapping[tuple[str, int], float]) -> Spread:
    """Return the spread of the values of a metric by order and seed, at least one.

    It is ``nan`` without spread where one of them is ``nan``.

    The mean is that of the orders' means. Only seeds that have all orders enter the interval: else
    it would hold differences between orders.
    """
    if any(map(math.isnan, values.values())):
        return Spread(math.nan, None, None)
    orders = list(dict.fromkeys(order for order, _ in values))
    seeds = list(dict.fromkeys(seed for _, seed in values))
    means = [statistics.fmean(v for (of, _), v in values.items() if of == o) for o in orders]
    complete = [
        statistics.fmean(values[order, seed] for order in orders)
        for seed in seeds
        if all((order, seed) in values for order in orders)
    ]
    return Spread(
        statistics.fmean(means),
        statistics.stdev(means) if len(means) > 1 else None,
        half_width(complete),
    )


def show(value: Spread, scale: float = SCALE, digits: int = 1) -> str:
    """Return ``mean (s) ± c`` times the scale, 10^-3 as a rule; a dash where not defined."""
    if value.mean != value.mean:
        return "-"
    orders = "" if value.orders is None else f" ({value.orders * scale:.{digits}f})"
    seeds = "" if value.seeds is None else f" ± {value.seeds * scale:.{digits}f}"
    return f"{value.mean * scale:.{digits}f}{orders}{seeds}"
