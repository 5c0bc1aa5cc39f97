"""Student's t without scipy: its distribution has a closed form for whole degrees of freedom."""

import math
import statistics
from collections.abc import Sequence

LEVEL = 0.95
"""Of the confidence intervals."""


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
