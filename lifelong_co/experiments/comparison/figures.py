"""The paper's forgetting and plasticity figures as PNG, if matplotlib is installed."""

import importlib.util
import io
import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lifelong_co.experiments.comparison import curves, panels
from lifelong_co.experiments.comparison.comparison import Comparison, Group
from lifelong_co.experiments.comparison.selection import shown

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
    for each task follows, or for some tasks if there are many.

    Returns
    -------
    bytes
        A PNG.
    """
    sequences = by_sequence(comparison)
    small = len(sequences) == 1 and len(comparison.runs[0].names) > 1
    tasks = shown(len(comparison.runs[0].names)) if small else []
    rows = -(-len(tasks) // COLUMNS)
    heights = [3.0] * len(sequences) + [2.0] * rows
    figure = panels.figure(WIDTH, sum(heights), comparison)
    grid = figure.add_gridspec(len(heights), 2 * COLUMNS, height_ratios=heights)
    for i, groups in enumerate(sequences):
        for side, best in enumerate((None, comparison.best)):
            axes = figure.add_subplot(grid[i, side * COLUMNS : (side + 1) * COLUMNS])
            draw_learned(axes, comparison, groups, best)
    for position, j in enumerate(tasks):
        row, column = divmod(position, COLUMNS)
        where = grid[len(sequences) + row, 2 * column : 2 * column + 2]
        _one_task(figure.add_subplot(where), comparison, j + 1, first=column == 0)
    return png(figure)


def plasticity(
    comparison: Comparison, width: float = WIDTH, height: float = 2.3, columns: int = COLUMNS
) -> bytes:
    """Draw the test cost on each task while it is learned, one panel a task (paper §4, Plasticity).

    A curve starts with the zero-shot cost, from a test before the task; the first task has none.
    There is one block of panels for each task order, in the order of arrival. If there are many
    tasks, some of them are shown. A panel is ``height`` inches high.

    Returns
    -------
    bytes
        A PNG.
    """
    sequences = by_sequence(comparison)
    tasks = shown(len(comparison.runs[0].names))
    rows = -(-len(tasks) // columns)
    figure = panels.figure(width, height * rows * len(sequences), comparison)
    grid = figure.add_gridspec(rows * len(sequences), columns)
    for block, groups in enumerate(sequences):
        for position, j in enumerate(tasks):
            row, column = divmod(position, columns)
            axes = figure.add_subplot(grid[block * rows + row, column])
            draw_current(axes, comparison, groups, j, "cost" if column == 0 else "")
    return png(figure)


def matrices(comparison: Comparison) -> bytes:
    """Draw the cost matrix of each group's first run: the gap of every cost to d*.

    A row holds the gaps after learning one task, a column those on one tested task. Gaps above the
    98th percentile have the darkest color.

    Returns
    -------
    bytes
        A PNG.
    """
    import numpy as np

    groups = comparison.groups
    columns = min(len(groups), 2)
    rows = -(-len(groups) // columns)
    figure = panels.empty_figure(WIDTH * columns / 2, 4.2 * rows)
    grid = figure.add_gridspec(rows, columns)
    for position, group in enumerate(groups):
        run = group.runs[0]
        best = np.array([comparison.best[name] for name in run.names])
        gaps = np.array(run.costs) / best - 1
        axes = figure.add_subplot(grid[position // columns, position % columns])
        top = max(float(np.quantile(gaps, 0.98)), 1e-9)
        ends = (0.5, len(best) + 0.5)
        image = axes.imshow(
            gaps * 1e3, cmap="cividis_r", vmin=0, vmax=top * 1e3, interpolation="nearest",
            extent=(*ends, *ends[::-1]),
        )  # fmt: skip
        figure.colorbar(image, ax=axes, extend="max").set_label("gap to d*, $10^{-3}$", fontsize=9)
        panels.dress(axes, f"{group.label}, seed {run.config.seed}", "tested task", "learned tasks")
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
        points = list(zip(*found, strict=True))[int(len(found[0]) > 1) :]
        panels.lines(axes, comparison, group, points, 1.0 if best is None else 1e3)
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
        segments = [[(x - start, y) for x, y in curves.current(run)[j]] for run in group.runs]
        panels.lines(axes, comparison, group, [segments])
    axes.set_xlim(0, epochs)
    panels.finish(axes, f"{j + 1}. {name}", "epoch of the task", unit)


def _one_task(axes: panels.Axes, comparison: Comparison, task: int, *, first: bool) -> None:
    run = comparison.runs[0]
    panels.tasks(axes, run, only=task)
    for group in comparison.groups:
        found = [curves.of_task(run, task) for run in group.runs]
        panels.lines(axes, comparison, group, [[before for before, _ in found]], faint=True)
        panels.lines(axes, comparison, group, [[after for _, after in found]])
    unit = "cost" if first else ""
    start = curves.boundaries(run)[task - 1]
    panels.finish(axes, f"Cost on {run.names[task - 1]}", "epoch", unit, since=start)


def by_sequence(comparison: Comparison) -> list[list[Group]]:
    """Return the groups of each sequence of tasks and epochs, which share an axis."""
    groups = sorted(comparison.groups, key=lambda group: repr(group.sequence))
    found = [list(its) for _, its in itertools.groupby(groups, key=lambda group: group.sequence)]
    position = {group.label: i for i, group in enumerate(comparison.groups)}
    return sorted(found, key=lambda its: min(position[group.label] for group in its))


def png(figure: "Figure") -> bytes:
    """Return a figure as PNG; equal figures give equal bytes."""
    buffer = io.BytesIO()
    # The file contains no software version and no date.
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()
