"""The paper's forgetting and plasticity figures as PNG, if matplotlib is installed."""

import importlib.util
import io
import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lifelong_co.experiments.comparison import curves, panels
from lifelong_co.experiments.comparison.comparison import Comparison, Group
from lifelong_co.experiments.comparison.curves import Point

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INSTALL = "pip install 'lifelong-co[plot]'"
WIDTH = 10.0
"""Inches; at 150 dots per inch this is 1,500 pixels."""
COLUMNS = 3
"""Number of small panels in a row."""


def available() -> bool:
    """Return whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def forgetting(comparison: Comparison) -> bytes:
    """Draw the costs on the tasks learned so far, while others are learned (paper §4, Stability).

    Left: the mean test cost over the tasks learned so far, as in the paper. Right: the mean of
    their gaps to d*; the last point is AP. As in the paper, both start with the second task, if
    there is one. There is one row for each task order. If there is only one order, a small panel
    for each task follows.

    Returns
    -------
    bytes
        A PNG.
    """
    sequences = _by_sequence(comparison)
    small = len(sequences) == 1 and len(comparison.runs[0].names) > 1
    rows = -(-len(comparison.runs[0].names) // COLUMNS) if small else 0
    heights = [3.0] * len(sequences) + [2.0] * rows
    figure = panels.figure(WIDTH, sum(heights), list(comparison.groups))
    grid = figure.add_gridspec(len(heights), 2 * COLUMNS, height_ratios=heights)
    for i, groups in enumerate(sequences):
        for side, best in enumerate((None, comparison.best)):
            axes = figure.add_subplot(grid[i, side * COLUMNS : (side + 1) * COLUMNS])
            draw_learned(axes, comparison, groups, best)
    for j in range(rows and len(comparison.runs[0].names)):
        row, column = divmod(j, COLUMNS)
        where = grid[len(sequences) + row, 2 * column : 2 * column + 2]
        _one_task(figure.add_subplot(where), comparison, j + 1)
    return png(figure)


def plasticity(
    comparison: Comparison, width: float = WIDTH, height: float = 2.3, columns: int = COLUMNS
) -> bytes:
    """Draw the test cost on each task while it is learned, one panel a task (paper §4, Plasticity).

    A curve starts with the zero-shot cost, from a test before the task; the first task has none.
    There is one block of panels for each task order, in the order of arrival. A panel is
    ``height`` inches high.

    Returns
    -------
    bytes
        A PNG.
    """
    sequences = _by_sequence(comparison)
    names = comparison.runs[0].names
    rows = -(-len(names) // columns)
    figure = panels.figure(width, height * rows * len(sequences), list(comparison.groups))
    grid = figure.add_gridspec(rows * len(sequences), columns)
    for block, groups in enumerate(sequences):
        for j in range(len(names)):
            axes = figure.add_subplot(grid[block * rows + j // columns, j % columns])
            draw_current(axes, comparison, groups, j, "cost" if j % columns == 0 else "")
    return png(figure)


def draw_learned(
    axes: panels.Axes,
    comparison: Comparison,
    groups: Sequence[Group],
    best: Mapping[str, float] | None,
) -> None:
    """Draw the mean cost over the tasks learned so far in one order, or the gap to ``best``."""
    panels.tasks(axes, groups[0].runs[0])
    for group in groups:
        found = [curves.learned(run, best) for run in group.runs]
        shown = list(zip(*found, strict=True))[int(len(found[0]) > 1) :]
        panels.lines(axes, comparison, group, shown, 1.0 if best is None else 1e3)
    kind = "Cost" if best is None else "Gap to d*"
    unit = "mean cost" if best is None else "mean gap, $10^{-3}$"
    panels.finish(axes, f"{kind}, mean over the tasks learned so far", "epoch", unit)


def draw_current(
    axes: panels.Axes, comparison: Comparison, groups: Sequence[Group], j: int, unit: str
) -> None:
    """Draw the cost on task ``j``, counted from 0, while it is learned in one order."""
    start = curves.boundaries(groups[0].runs[0])[j]
    name, epochs = groups[0].sequence[j]
    for group in groups:
        segments = [_shift(curves.current(run)[j], start) for run in group.runs]
        panels.lines(axes, comparison, group, [segments])
    axes.set_xlim(0, epochs)
    panels.finish(axes, f"{j + 1}. {name}", "epoch of the task", unit)


def _one_task(axes: panels.Axes, comparison: Comparison, task: int) -> None:
    run = comparison.runs[0]
    panels.tasks(axes, run, only=task)
    for group in comparison.groups:
        found = [curves.of_task(run, task) for run in group.runs]
        panels.lines(axes, comparison, group, [[before for before, _ in found]], faint=True)
        panels.lines(axes, comparison, group, [[after for _, after in found]])
    unit = "cost" if task % COLUMNS == 1 else ""
    start = curves.boundaries(run)[task - 1]
    panels.finish(axes, f"Cost on {run.names[task - 1]}", "epoch", unit, since=start)


def _by_sequence(comparison: Comparison) -> list[list[Group]]:
    groups = sorted(comparison.groups, key=lambda group: repr(group.sequence))
    found = [list(its) for _, its in itertools.groupby(groups, key=lambda group: group.sequence)]
    position = {group.label: i for i, group in enumerate(comparison.groups)}
    return sorted(found, key=lambda its: min(position[group.label] for group in its))


def _shift(points: Sequence[Point], by: float) -> list[Point]:
    return [(x - by, y) for x, y in points]


def png(figure: "Figure") -> bytes:
    """Return a figure as PNG; equal figures give equal bytes."""
    buffer = io.BytesIO()
    # The file contains no software version and no date.
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()
