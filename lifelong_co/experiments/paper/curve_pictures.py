"""The forgetting and plasticity curves of each order, each picture narrow enough for a phone."""

from lifelong_co.experiments.comparison import figures, panels
from lifelong_co.experiments.comparison.comparison import Comparison
from lifelong_co.experiments.paper.naming import order_title
from lifelong_co.experiments.paper.studies import Chapter
from lifelong_co.experiments.report import Picture

SEEDS = "; lines are means over seeds, bands their range"


def curve_pictures(chapter: Chapter) -> list[Picture]:
    """Return three pictures for each solver, problem and order: costs, gaps and plasticity."""
    found = []
    for solver in chapter.solvers:
        for problem, study in chapter.of(solver).items():
            for order, name in chapter.orders.items():
                comparison = study.comparison(order)
                if comparison.groups:
                    title = order_title(name)
                    of = f"{problem.upper()}, {title} ({' → '.join(order)}), {solver}"
                    of += SEEDS * any(len(group.runs) > 1 for group in comparison.groups)
                    found += _pictures(comparison, f"{problem}-{solver}-{title}", of)
    return found


def _pictures(comparison: Comparison, key: str, of: str) -> list[Picture]:
    gaps = forgetting(comparison, gaps=True)
    plasticity = figures.plasticity(comparison, panels.NARROW, height=1.9, columns=2)
    return [
        Picture(f"forgetting-{key}", f"Forgetting, mean cost: {of}.", forgetting(comparison)),
        Picture(f"forgetting-gap-{key}", f"Forgetting, mean gap to d*, ends at AP: {of}.", gaps),
        Picture(
            f"plasticity-{key}",
            f"Plasticity, cost on each task while it is learned: {of}.",
            plasticity,
        ),
    ]


def forgetting(comparison: Comparison, *, gaps: bool = False) -> bytes:
    """Draw the mean over the tasks learned so far in one order, of costs or of gaps to d*."""
    figure = panels.figure(panels.NARROW, 2.9, comparison.groups)
    best = comparison.best if gaps else None
    figures.draw_learned(figure.add_subplot(), comparison, comparison.groups, best)
    return figures.png(figure)
