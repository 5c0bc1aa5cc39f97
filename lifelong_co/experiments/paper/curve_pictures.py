"""The forgetting and plasticity curves of each order, each picture narrow enough for a phone."""

from lifelong_co.experiments.comparison import figures, panels
from lifelong_co.experiments.comparison.comparison import Comparison
from lifelong_co.experiments.paper.naming import order_title
from lifelong_co.experiments.paper.studies import Arrival, Chapter, Study
from lifelong_co.experiments.report import Picture

WIDTH = 4.2
"""Inches."""
COLUMNS = 2
"""Panels of the plasticity curves in a row."""


def curve_pictures(chapter: Chapter) -> list[Picture]:
    """Return three pictures for each solver, problem and order: costs, gaps and plasticity."""
    found = []
    for solver in chapter.solvers:
        for problem, study in chapter.of(solver).items():
            for order, name in chapter.orders.items():
                comparison = study.comparison(order)
                if comparison.groups:
                    found += _pictures(study, problem, order, name, comparison)
    return found


def _pictures(
    study: Study, problem: str, order: Arrival, name: str, comparison: Comparison
) -> list[Picture]:
    of = f"{problem.upper()}, {order_title(name)} ({' → '.join(order)}), {study.solver}"
    if any(len(group.runs) > 1 for group in comparison.groups):
        of += "; lines are means over seeds, bands their range"
    key = f"{problem}-{study.solver}-{order_title(name)}"
    return [
        Picture(f"forgetting-{key}", f"Forgetting, mean cost: {of}.", forgetting(comparison)),
        Picture(
            f"forgetting-gap-{key}",
            f"Forgetting, mean gap to d*, ends at AP: {of}.",
            forgetting(comparison, gaps=True),
        ),
        Picture(
            f"plasticity-{key}",
            f"Plasticity, cost on each task while it is learned: {of}.",
            plasticity(comparison),
        ),
    ]


def forgetting(comparison: Comparison, *, gaps: bool = False) -> bytes:
    """Draw the mean over the tasks learned so far in one order, of costs or of gaps to d*."""
    figure = panels.figure(WIDTH, 2.9, comparison.groups)
    best = comparison.best if gaps else None
    figures.draw_learned(figure.add_subplot(), comparison, comparison.groups, best)
    return figures.png(figure)


def plasticity(comparison: Comparison) -> bytes:
    """Draw the cost on each task while it is learned in one order, a panel each."""
    count = len(comparison.runs[0].names)
    rows = -(-count // COLUMNS)
    figure = panels.figure(WIDTH, 1.9 * rows, comparison.groups)
    for j in range(count):
        axes = figure.add_subplot(rows, COLUMNS, j + 1)
        unit = "cost" if j % COLUMNS == 0 else ""
        figures.draw_current(axes, comparison, comparison.groups, j, unit)
    return figures.png(figure)
