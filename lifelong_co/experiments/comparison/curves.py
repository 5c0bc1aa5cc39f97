"""Curves over the epochs of a run: the points of the paper's forgetting and plasticity figures.

A curve is a list of segments, one per task that is learned. Each segment is the mean over another
set of tasks, so the level changes between segments. A point is ``(epoch over the whole run,
value)``.
"""

import itertools
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from lifelong_co.experiments.comparison.runs import FinishedRun

Point = tuple[float, float]
Curve = list[list[Point]]


@attrs.frozen
class Band:
    """One point of a curve over several seeds."""

    x: float
    """Epoch over the whole run."""
    mean: float
    low: float
    """Lowest value over the seeds."""
    high: float
    """Highest value over the seeds."""


def boundaries(run: FinishedRun) -> list[int]:
    """Return the epochs over the whole run at which tasks begin and end, ``k + 1`` of them."""
    return list(itertools.accumulate(run.epochs, initial=0))


def learned(run: FinishedRun, best: Mapping[str, float] | None = None) -> Curve:
    """Return the mean test cost over the tasks learned so far, including the present one.

    Parameters
    ----------
    run
        The run.
    best
        ``d*`` by task name. With it the curve has the mean of the gaps ``(d - d*) / d*``, and its
        last point is the AP of the run.
    """
    references = [best[name] for name in run.names] if best else []

    def value(learning: int, costs: Mapping[int, float]) -> float | None:
        if len(costs) < learning:  # a method that restarts tests only the present task
            return None
        if best is None:
            return statistics.fmean(costs[j] for j in range(1, learning + 1))
        return statistics.fmean(
            (costs[j] - d) / d for j, d in enumerate(references[:learning], start=1)
        )

    return _curve(run, value)


def current(run: FinishedRun) -> Curve:
    """Return the test cost on the task that is learned."""
    return _curve(run, lambda learning, costs: costs[learning])


def of_task(run: FinishedRun, task: int) -> tuple[list[Point], list[Point]]:
    """Return the test cost on one task, counted from 1, before and after its start.

    The first list holds the zero-shot tests after each earlier task. The point at the start of the
    task is in both lists.
    """
    ends, rows = boundaries(run), run.rows
    start = ends[task - 1]
    points = [(x, costs[task]) for _, x, costs in _snapshots(run) if task in costs]
    points += [
        (float(ends[i]), rows[i - 1][task - 1])
        for i in range(1, task)
        if ends[i] < start and task - 1 in rows[i - 1]
    ]
    # The test at a boundary belongs to both sides; a stable sort keeps points in order of time.
    points = sorted(dict.fromkeys(points), key=lambda point: point[0])
    return [p for p in points if p[0] <= start], [p for p in points if p[0] >= start]


def bands(segments: Sequence[Sequence[Point]]) -> list[Band]:
    """Join one segment of several seeds at the epochs at which all of them have a test."""
    values = [dict(segment) for segment in segments]
    shared = sorted(set.intersection(*(set(points) for points in values)))
    found = [(x, [points[x] for points in values]) for x in shared]
    return [Band(x, statistics.fmean(ys), min(ys), max(ys)) for x, ys in found]


def _curve(run: FinishedRun, value: Callable[[int, Mapping[int, float]], float | None]) -> Curve:
    curve: Curve = [[] for _ in run.names]
    for learning, x, costs in _snapshots(run):
        y = value(learning, costs)
        if y is not None:
            curve[learning - 1].append((x, y))
    return curve


def _snapshots(run: FinishedRun) -> Iterator[tuple[int, float, Mapping[int, float]]]:
    """Yield (task that is learned, epoch over the whole run, costs by task) in order of time.

    The first point of a task comes from the tests after the task before, because the solver is
    still the same (unless the method resets it). Costs on tasks not learned yet are left out.
    """
    starts = boundaries(run)
    tests = dict(run.tests)
    for i, epochs in enumerate(run.epochs[:-1], start=1):
        tests.setdefault((i + 1, 0), run.tests[i, epochs])
    for (learning, epoch), costs in sorted(tests.items()):
        seen = {j: cost for j, cost in costs.items() if j <= learning}
        if learning in seen:
            yield learning, float(starts[learning - 1] + epoch), seen
