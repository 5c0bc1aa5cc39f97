"""Draws a drifted decision: both routes, the likeliest actions, and the confidence on the way."""

from typing import Any

import numpy as np
import numpy.typing as npt

from lifelong_co.experiments.comparison import figures, panels
from lifelong_co.experiments.paper.drifted_decision import Course, Drift

THEN, NOW = panels.COLORS[0], panels.COLORS[1]
SHOWN = 3
"""Likeliest actions of each solver (paper, appendix A.2)."""
WIDTH = 4.2
"""Inches."""
CROWDED = 60
"""From so many nodes on numbers would hide the route."""


def pictures(drift: Drift, task: str) -> dict[str, bytes]:
    """Return PNGs by name: ``then``, ``now``, ``actions``, ``confidence``."""
    last = f"after the last task: cost {drift.now.cost:.3f}"
    return {
        "then": route(drift, drift.then, THEN, f"after {task}: cost {drift.then.cost:.3f}"),
        "now": route(drift, drift.now, NOW, last),
        "actions": actions(drift, task),
        "confidence": confidence(drift, task),
    }


def likeliest(drift: Drift) -> list[tuple[int, float, float]]:
    """Return (action, probability then, probability now) of the likeliest three of each solver."""
    old, new = drift.probs(drift.then), drift.probs(drift.now)
    top = [int(a) for probs in (old, new) for a in probs.topk(min(SHOWN, len(probs))).indices]
    rows = [(a, float(old[a]), float(new[a])) for a in dict.fromkeys(top)]
    return sorted((row for row in rows if row[1] or row[2]), key=lambda row: -max(row[1:]))


def number(drift: Drift, index: int) -> int:
    """Return what a map calls the action of an index: a depot that a solution starts at is 0."""
    return index if _has_depot(drift) and drift.then.actions[0] == 0 else index + 1


def route(drift: Drift, course: Course, color: str, title: str) -> bytes:
    """Draw a solution: the way both share dark, the decision thick, what comes of it thin."""
    figure = _figure(4.4)
    axes = figure.add_subplot()
    points = _points(drift.instance)
    way, step = points[[*course.actions, course.actions[0]]], drift.step
    before = course.actions[step - 1]  # where nothing was forced, that is the depot it ends at
    axes.plot(*way[:step].T, color=panels.INK, linewidth=1.8, zorder=2)
    axes.plot(*way[step:].T, color=color, linewidth=0.9, alpha=0.75, zorder=1)
    axes.annotate(
        "", way[step], points[before], zorder=4,
        arrowprops={"arrowstyle": "-|>", "color": color, "linewidth": 2.6, "shrinkB": 5},
    )  # fmt: skip
    axes.scatter(*points.T, s=80 if len(points) <= CROWDED else 8, color="white", zorder=5,
                 edgecolor=panels.SOFT, linewidth=0.8)  # fmt: skip
    axes.scatter(*points[course.actions[step]], s=120, color=color, zorder=6)
    axes.scatter(*points[before], s=120, color=panels.INK, zorder=6)
    if _has_depot(drift):
        axes.scatter(*points[0], s=110, marker="s", color="black", zorder=6)
    for index, action in enumerate(course.actions):
        marked = action in (before, course.actions[step])
        if (len(points) <= CROWDED or marked) and not (_has_depot(drift) and action == 0):
            axes.annotate(
                str(number(drift, index)), points[action], ha="center", va="center",
                fontsize=6.5, color="white" if marked else panels.INK, zorder=7,
            )  # fmt: skip
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(panels.plain(title), loc="left", fontsize=10)
    axes.spines[:].set_color(panels.PALE)
    return figures.png(figure)


def actions(drift: Drift, task: str) -> bytes:
    """Draw the probabilities of the likeliest actions, then and now."""
    rows = likeliest(drift)
    figure = _figure(0.9 + 0.55 * len(rows))
    axes = figure.add_subplot()
    place = np.arange(len(rows))
    for shift, color, column, label in (
        (-0.2, THEN, 1, f"after {task}"),
        (0.2, NOW, 2, "after the last task"),
    ):
        values = [row[column] for row in rows]
        bars = axes.barh(place + shift, values, height=0.36, color=color, label=panels.plain(label))
        axes.bar_label(bars, labels=[f"{v:.3f}" for v in values], padding=3, fontsize=9)
    axes.set_yticks(place, [name_of(drift, row[0]) for row in rows], fontsize=9)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.14)
    axes.set_xlabel("probability of the action", fontsize=9)
    axes.set_title(
        f"Decision {number(drift, drift.step)}: the likeliest three of each",
        loc="left", fontsize=10,
    )  # fmt: skip
    axes.legend(loc="lower right", fontsize=9, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figures.png(figure)


def confidence(drift: Drift, task: str) -> bytes:
    """Draw the three greatest probabilities of every decision along each route."""
    figure = _figure(4.0)
    both = ((drift.then, THEN, f"after {task}"), (drift.now, NOW, "after the last task"))
    for row, (course, color, title) in enumerate(both):
        axes = figure.add_subplot(2, 1, row + 1)
        top = course.probs.topk(min(SHOWN, course.probs.shape[1]), dim=1).values.numpy()
        place = [number(drift, drift.forced + i) for i in range(len(top))]
        below = np.zeros(len(top))
        for rank in range(top.shape[1]):
            axes.bar(place, top[:, rank], bottom=below, width=0.9, color=color,
                     alpha=(0.95, 0.5, 0.22)[rank], linewidth=0)  # fmt: skip
            below += top[:, rank]
        here = number(drift, drift.step)
        axes.annotate("parts here", (here, 1.0), (here, 1.16), ha="center", fontsize=8,
                      arrowprops={"arrowstyle": "-|>", "color": panels.INK})  # fmt: skip
        axes.set_ylim(0, 1.3)
        axes.set_yticks([0, 0.5, 1])
        axes.set_ylabel("probability", fontsize=9)
        axes.set_title(panels.plain(title), loc="left", fontsize=10)
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("decision, as numbered on the map", fontsize=9)
    return figures.png(figure)


def _figure(height: float) -> Any:
    return panels.empty_figure(WIDTH, height)


def _points(instance: Any) -> npt.NDArray[np.float64]:
    """Return coordinates ``[A, 2]`` in the order of the actions."""
    depot = getattr(instance, "depot", None)
    nodes = instance.nodes[0].double().numpy()
    return nodes if depot is None else np.concatenate((depot[0].double().numpy(), nodes))


def _has_depot(drift: Drift) -> bool:
    return getattr(drift.instance, "depot", None) is not None


def name_of(drift: Drift, action: int) -> str:
    """Return how an action is called on either map."""
    if _has_depot(drift) and action == 0:
        return "depot"
    places = [
        str(number(drift, course.actions.index(action))) if action in course.actions else "?"
        for course in (drift.then, drift.now)
    ]
    return f"node {places[0]} (then)\nnode {places[1]} (now)"
