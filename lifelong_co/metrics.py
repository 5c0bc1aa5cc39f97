"""The paper's five metrics of a lifelong run (§4): plain fractions, lower is better.

Row ``i`` of a cost matrix holds the mean cost on every task after learning the first ``i + 1``
tasks. Costs of different tasks cannot be compared, so the metrics use the gap ``(d - d*) / d*``.
Here ``d*`` is the lowest cost on the task among all the runs that are compared.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lifelong_co.errors import ConfigError, UnknownNameError

Matrix = NDArray[np.float64]


@attrs.frozen
class Metrics:
    """AP, AF, AMF, APl and AG of one run after ``k`` tasks, as plain fractions (0.004 is 0.4 %).

    AF, AMF and AG are averages over ``k - 1`` terms, so they are ``nan`` when ``k = 1``. A single
    cost has nothing to be compared with, so AP and APl are ``nan``, too, if ``best`` is then None.
    """

    AP: float
    """Average performance: the mean gap on all tasks after the last; at least 0 if best is None."""
    AF: float
    """Average forgetting: how far the gap of each earlier task rose by the end; at least 0."""
    AMF: float
    """Average maximal forgetting: how far that gap rose at its highest; at least AF."""
    APl: float
    """Average plasticity: the mean gap on each task just after learning it."""
    AG: float
    """Average zero-shot generalization: the mean gap on each task just before learning it."""


@attrs.frozen
class Split:
    """What AP consists of: ``AP = never_learned + forgotten - gained_back``, as plain fractions."""

    never_learned: float
    """The mean gap on each task just after learning it: what was never learned. It is APl."""
    forgotten: float
    """The mean over all tasks of how far the gap rose from then to the end; at least 0."""
    gained_back: float
    """The mean over all tasks of how far the gap fell from then to the end; at least 0."""


DEFINITIONS = ("text", "published")
"""Whose AF and AMF: those of the paper's text, or those of the script that made its tables."""

NAMES: tuple[str, ...] = tuple(field.name for field in attrs.fields(Metrics))
"""``AP, AF, AMF, APl, AG``: the order of the paper's tables."""


def summarize(costs: Any, best: Any = None, *, definition: str = "text") -> Metrics:
    """Compute the metrics of one run (paper §4, Evaluation Metrics).

    Parameters
    ----------
    costs
        ``[k, k]``, ``k >= 1``, finite: a tensor, an array or nested lists. ``costs[i][j]`` is the
        mean cost on task ``j`` after learning the first ``i + 1`` tasks.
    best
        ``d*``: ``[k]``, finite and positive. None: the lowest cost of each column, which is the
        best cost of this run. A cost below ``d*`` gives a negative gap.
    definition
        The definition of AF and AMF. ``text``: that of the paper's §4. ``published``: that of the
        official script (``compare_paper.py:141,163``), which ignores the costs after the last task:
        forgetting ends with task ``k - 1``, which itself has forgotten nothing then and counts as
        one of the ``k - 1`` terms. The paper's tables have the latter. AP, APl and AG do not
        differ.

    Raises
    ------
    ConfigError
        If ``costs`` is not square or not finite, or ``best`` does not fit it or is not positive.
    UnknownNameError
        If there is no such definition.
    """
    gaps = _gaps(costs, best).tolist()
    return of_gaps(lambda i, j: gaps[i][j], len(gaps), definition)


def of_gaps(gap: Callable[[int, int], float], k: int, definition: str = "text") -> Metrics:
    """Return the metrics of one run by its gaps.

    Parameters
    ----------
    gap
        ``gap(i, j)`` is the gap on task ``j`` after learning the first ``i + 1`` tasks, ``nan`` if
        it was not measured. A metric that needs it is then ``nan``.
    k
        The number of tasks.
    definition
        As in `summarize`, with its error.
    """
    if definition not in DEFINITIONS:
        raise UnknownNameError("definition", definition, DEFINITIONS)
    earlier = range(k - 1)
    stop = k if definition == "text" else k - 1  # forgetting is seen after tasks 1 to stop

    def highest(i: int) -> float:
        top = gap(i, i)
        for j in range(i + 1, stop):
            value = gap(j, i)
            if math.isnan(value):
                return value
            top = max(top, value)
        return top

    return Metrics(
        AP=_mean(gap(k - 1, j) for j in range(k)),
        AF=_mean(_rise(gap(i, i), gap(stop - 1, i)) for i in earlier),
        AMF=_mean(_rise(gap(i, i), highest(i)) for i in earlier),
        APl=_mean(gap(i, i) for i in range(k)),
        AG=_mean(gap(i, i + 1) for i in earlier),
    )


def _rise(before: float, after: float) -> float:
    """Return how far a gap rose, at least 0; ``nan`` if one of the two is."""
    rise = after - before
    return rise if math.isnan(rise) else max(0.0, rise)


def split(costs: Any, best: Any = None) -> Split:
    """Split the AP of one run into what was never learned, forgotten and gained back.

    The final gap on a task is the gap just after learning it, plus the rise from then to the end.
    A rise above 0 is forgetting, and one below 0 is a gain. The last task has no rise.

    Parameters
    ----------
    costs, best
        As in `summarize`, with its errors.
    """
    gap = _gaps(costs, best)
    return split_gaps(np.diagonal(gap), gap[-1])


def split_gaps(learned: ArrayLike, final: ArrayLike) -> Split:
    """Return `split` by the ``k`` gaps just after learning each task, and those at the end."""
    before, after = _numbers(learned, "learned"), _numbers(final, "final")
    if before.ndim != 1 or before.shape != after.shape:
        raise ConfigError(
            f"gaps: expected two rows [k], got {list(before.shape)} and {list(after.shape)}"
        )
    rise = after - before
    return Split(
        never_learned=_mean(before),
        forgotten=_mean(np.maximum(0.0, rise)),
        gained_back=_mean(np.maximum(0.0, -rise)),
    )


def meaningful(found: Metrics, *, knows_all_tasks: bool) -> Metrics:
    """Return the metrics of a run, with ``nan`` for those that have no meaning.

    For a method that learns all tasks at once (`Method.knows_all_tasks`) only AP has a meaning,
    because no task comes before another.
    """
    if not knows_all_tasks:
        return found
    return attrs.evolve(found, AF=math.nan, AMF=math.nan, APl=math.nan, AG=math.nan)


def json_values(metrics: Metrics) -> dict[str, float | None]:
    """Return the metrics by name, with None for ``nan``, because JSON has no ``nan``."""
    values = attrs.asdict(metrics)
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def _gaps(costs: Any, best: Any) -> Matrix:
    """Return ``(d - d*) / d*`` for each cost, ``[k, k]``; ``nan`` for a cost that is alone."""
    matrix = _matrix(costs)
    reference = matrix.min(axis=0) if best is None else _numbers(best, "best")
    k = len(matrix)
    if reference.shape != (k,):
        raise ConfigError(f"best: expected shape [{k}] for {k} tasks, got {list(reference.shape)}")
    if not (np.isfinite(reference) & (reference > 0)).all():
        raise ConfigError(
            f"best: expected finite numbers above 0 to divide by, got {reference.tolist()}"
        )
    gaps: Matrix = (matrix - reference) / reference
    return gaps if k > 1 or best is not None else np.full_like(gaps, math.nan)


def _matrix(costs: Any) -> Matrix:
    matrix = _numbers(costs, "costs")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise ConfigError(f"costs: expected shape [k, k] with k >= 1, got {list(matrix.shape)}")
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0]
        raise ConfigError(f"costs: expected finite numbers, got {matrix[i, j]} in [{i}][{j}]")
    return matrix


def _numbers(values: Any, name: str) -> Matrix:
    plain = values.detach().cpu() if isinstance(values, Tensor) else values
    rows = plain if isinstance(plain, list | tuple) else [plain]
    try:
        found = np.asarray(plain)
        texts = found.dtype == object and any(isinstance(value, str) for value in found.flat)
        if texts or found.dtype.kind in "cmMSTU" or any(map(np.ma.is_masked, rows)):
            raise TypeError("some are masked, complex, dates or texts")
        return np.asarray(plain, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{name}: expected numbers in rows of equal length: {error}") from None


def _mean(values: Iterable[float]) -> float:
    numbers = [float(value) for value in values]
    return math.fsum(numbers) / len(numbers) if numbers else math.nan
