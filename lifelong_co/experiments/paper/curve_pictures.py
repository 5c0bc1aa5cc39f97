"""The forgetting and plasticity curves of each order, as pictures that fit the width of a phone."""

import attrs

from lifelong_co.experiments.comparison import figures, panels
from lifelong_co.experiments.comparison.comparison import Comparison
from lifelong_co.experiments.comparison.selection import sequence
from lifelong_co.experiments.paper.naming import order_title
from lifelong_co.experiments.paper.studies import Chapter
from lifelong_co.experiments.report import Picture

SEEDS = "; a line is the mean over seeds, a band shows their range"


def curve_pictures(chapter: Chapter) -> list[Picture]:
    """Return the pictures of each solver, problem and order: costs, gaps and plasticity."""
    found = []
    lifelong = (variant for study in chapter.studies for variant in study.lifelong)
    styles = tuple(dict.fromkeys(variant.name for variant in lifelong))  # as in other pictures
    for solver in chapter.solvers:
        for problem, study in chapter.of(solver).items():
            for order, name in chapter.orders.items():
                comparison = attrs.evolve(study.comparison(order), styles=styles)
                if comparison.groups:
                    title = order_title(name)
                    of = f"{problem.upper()}, {title} ({sequence(order)}), {solver}"
                    of += SEEDS * any(len(group.runs) > 1 for group in comparison.groups)
                    found += _pictures(comparison, f"{problem}-{solver}-{title}", of)
    return found


def _pictures(comparison: Comparison, key: str, of: str) -> list[Picture]:
    gap = f"Forgetting, mean gap to d* (AP at the end): {of}."
    gaps = [] if comparison.alone else [
        Picture(f"forgetting-gap-{key}", gap, forgetting(comparison, gaps=True))
    ]  # fmt: skip
    plasticity = figures.plasticity(comparison, panels.NARROW, height=1.9, columns=2)
    return [
        Picture(f"forgetting-{key}", f"Forgetting, mean cost: {of}.", forgetting(comparison)),
        *gaps,
        Picture(
            f"plasticity-{key}",
            f"Plasticity, cost on each task while it is learned: {of}.",
            plasticity,
        ),
    ]


def forgetting(comparison: Comparison, *, gaps: bool = False) -> bytes:
    """Draw the mean cost, or the mean gap to d*, over the tasks learned so far in one order.

    Runs with other numbers of epochs have a panel of their own.
    """
    sequences = figures.by_sequence(comparison)
    figure = panels.figure(panels.NARROW, 2.9 * len(sequences), comparison)
    best = comparison.best if gaps else None
    for row, groups in enumerate(sequences, start=1):
        axes = figure.add_subplot(len(sequences), 1, row)
        figures.draw_learned(axes, comparison, groups, best)
    return figures.png(figure)
