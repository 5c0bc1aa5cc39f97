"""Curves over the epochs of a run: the points of the paper's forgetting and plasticity figures.

A curve is a list of segments, one per task being learned: the set of tasks it averages, and so its
level, changes from one to the next. A point is ``(epoch over the whole run, value)``.
"""

import itertools
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from lifelong_co.experiments.comparison.runs import Run

Point = tuple[float, float]
Curve = list[list[Point]]


@attrs.frozen
class Band:
    """A curve over several seeds at one point."""

    x: float
    mean: float
    low: float
    high: float


def boundaries(run: Run) -> list[int]:
    """Return the epochs over the whole run at which tasks begin and end, ``k + 1`` of them."""
    return list(itertools.accumulate(run.epochs, initial=0))


def learned(run: Run, best: Mapping[str, float] | None = None) -> Curve:
    """Return the mean test cost over the tasks learned so far, the present one included.

    Parameters
    ----------
    run
        The run.
    best
        ``d*`` by task name: the mean is then of the gaps ``(d - d*) / d*``, and the last point is
        the run's AP.
    """

    def value(learning: int, costs: Mapping[int, float]) -> float | None:
        tested = range(1, learning + 1)
        if len(costs) < learning:  # of a method that restarts: the present task alone
            return None
        if best is None:
            return statistics.fmean(costs[j] for j in tested)
        references = [best[run.names[j - 1]] for j in tested]
        return statistics.fmean((costs[j] - d) / d for j, d in zip(tested, references, strict=True))

    return _curve(run, value)


def current(run: Run) -> Curve:
    """Return the test cost on the task being learned."""
    return _curve(run, lambda learning, costs: costs[learning])


def of_task(run: Run, task: int) -> tuple[list[Point], list[Point]]:
    """Return the test cost on one task, counted from 1: up to its start, and from there on.

    The first list holds the zero-shot tests after each earlier task, and ends where the second
    starts.
    """
    ends = boundaries(run)
    start = ends[task - 1]
    points = [(x, costs[task]) for _, x, costs in _snapshots(run) if task in costs]
    points += [
        (float(ends[i]), run.costs[i - 1][task - 1]) for i in range(1, task) if ends[i] < start
    ]
    # One test at a boundary belongs to both sides; a stable sort keeps points in order of time.
    points = sorted(dict.fromkeys(points), key=lambda point: point[0])
    return [p for p in points if p[0] <= start], [p for p in points if p[0] >= start]


def bands(segments: Sequence[Sequence[Point]]) -> list[Band]:
    """Join the same segment of several seeds at the epochs that all of them tested."""
    values = [dict(segment) for segment in segments]
    shared = sorted(set.intersection(*(set(points) for points in values)))
    found = [(x, [points[x] for points in values]) for x in shared]
    return [Band(x, statistics.fmean(ys), min(ys), max(ys)) for x, ys in found]


def _curve(run: Run, value: Callable[[int, Mapping[int, float]], float | None]) -> Curve:
    curve: Curve = [[] for _ in run.names]
    for learning, x, costs in _snapshots(run):
        y = value(learning, costs)
        if y is not None:
            curve[learning - 1].append((x, y))
    return curve


def _snapshots(run: Run) -> Iterator[tuple[int, float, Mapping[int, float]]]:
    """Yield (task being learned, epoch over the whole run, costs by task) in order of time.

    A task begins with the tests made after the one before: the solver is the same, unless the
    method resets it. Those tests cover all tasks; what is not learned yet is left out here.
    """
    starts = boundaries(run)
    tests = dict(run.tests)
    for i, epochs in enumerate(run.epochs[:-1], start=1):
        tests.setdefault((i + 1, 0), run.tests[i, epochs])
    for (learning, epoch), costs in sorted(tests.items()):
        seen = {j: cost for j, cost in costs.items() if j <= learning}
        if learning in seen:
            yield learning, float(starts[learning - 1] + epoch), seen
