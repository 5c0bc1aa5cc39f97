"""The sections with an example of a decision that drifted, one for each problem."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lifelong_co.errors import LifelongError
from lifelong_co.experiments.comparison import figures, panels
from lifelong_co.experiments.comparison.runs import FinishedRun
from lifelong_co.experiments.paper.drift import INSTANCES, SHARED, SHOWN, Course, Drift, example
from lifelong_co.experiments.paper.studies import Chapter, Study
from lifelong_co.experiments.report import Picture, Section
from lifelong_co.experiments.sheet import Cell, Sheet

FIRST = "fine-tuning"
"""The method of the paper's example; its runs are searched first."""
TRIED = 3
"""Highest number of runs that are searched for an example."""
LAST = "after the last task"
THEN, NOW = panels.COLORS[0], panels.COLORS[1]
CROWDED = 60
"""With more nodes than this the maps number those of the decision only, to show the route."""

TEXT = (
    "An instance of an early task is solved twice: with the parameters after that task, and with"
    " those after the last task. Both solutions begin with the same actions. At the first different"
    " action both solvers are in the same state, but the likeliest action has changed. The section"
    f" shows the least confident of these decisions on at most {INSTANCES} test instances. It"
    f" prefers instances whose new solution is longer and has at least {SHARED} decisions in common"
    " with the old one."
)


def drift_sections(chapter: Chapter, log: Callable[[str], None]) -> list[Section]:
    """Return a section for each problem, with the chapter's first solver."""
    studies = chapter.of(chapter.solvers[0]).values()
    return [_section(study, log) for study in studies]


def _section(study: Study, log: Callable[[str], None]) -> Section:
    heading = f"A decision that drifts: {study.problem.upper()}"
    missing = "needs the folder checkpoints/ of a run, with the parameters after each task."
    if len(study.best) < 2:
        return Section(heading, missing="needs at least two tasks.")
    for run in _candidates(study)[:TRIED]:
        log(f"looking for a drifted decision in {run.path}")
        try:
            found = example(run)
        except LifelongError as error:
            missing = f"{run.path}: {error}"
            continue
        if found is not None:
            drawn = pictures(run, *found) if figures.available() else []
            return Section(heading, TEXT, (_sheet(run, *found),), tuple(drawn))
        missing = "no decision has drifted on the instances that were searched."
    return Section(heading, missing=missing)


def _candidates(study: Study) -> list[FinishedRun]:
    """Return the lifelong runs with checkpoints, without those that restart: nothing drifts."""
    runs = [run for variant in study.lifelong for run in variant.runs]
    runs.sort(key=lambda run: run.config.method != FIRST)
    return [
        run for run in runs
        if any((run.path / "checkpoints").glob("after-task-*/*.safetensors"))
        and not run.restarts
    ]  # fmt: skip


def _sheet(run: FinishedRun, task: str, drift: Drift) -> Sheet:
    config = run.config
    block = [
        (
            Cell(drift.name_of(action).replace("\n", " ")),
            *(Cell(f"{p:.3f}", {"": f"{p:.6g}"}) for p in probabilities),
        )
        for action, *probabilities in drift.likeliest
    ]
    return Sheet(
        key=f"drifted-decision-{config.problem}",
        title=f"Decision {drift.number(drift.step)} on an instance of {task},"
        f" {config.problem.upper()}, {config.method} ({config.solver}), seed {config.seed}",
        header=("action", f"after {task}", LAST),
        blocks=(tuple(block),),
        note="Probabilities of the three likeliest actions of each solver. Confidence after"
        f" {task}, by variance: {1 - drift.weight:.3f} of 1. Cost of the solution after {task}:"
        f" {drift.then.cost:.4f}; after the last task: {drift.now.cost:.4f}.",
        best_of="none",
    )


def pictures(run: FinishedRun, task: str, drift: Drift) -> list[Picture]:
    """Draw both routes, the likeliest actions, and the confidence at every decision.

    The routes are left out if the actions have no places.
    """
    then, now = f"after {task}", LAST
    points = drift.points
    crowded = points is not None and len(points) > CROWDED
    only = "; only those of the decision have one" * crowded
    routes = () if points is None else (
        ("then", _route(drift, points.numpy(), drift.then, THEN, then),
         f"The route after {task}. Numbers count the actions{only}; up to the decision (dark line)"
         " both routes are the same."),
        ("now", _route(drift, points.numpy(), drift.now, NOW, now),
         "The route after the last task, from the same start."),
    )  # fmt: skip
    drawn = (
        *routes,
        ("actions", _actions(drift, (then, now)),
         "The likeliest actions at the decision; nodes have their numbers on the map after the"
         " last task."),
        ("confidence", _confidence(drift, (then, now)),
         "The three highest probabilities of every decision, the highest at the bottom."),
    )  # fmt: skip
    problem, method = run.config.problem, run.config.method
    return [
        Picture(f"drift-{problem}-{name}", f"{problem.upper()}, {method}: {caption}", png)
        for name, png, caption in drawn
    ]


def _route(
    drift: Drift, points: NDArray[np.float64], course: Course, color: str, when: str
) -> bytes:
    """Draw a solution; ``points`` are ``[A, 2]``.

    The common beginning is dark, the decision thick, the rest thin.
    """
    figure, axes = panels.small(4.4, f"{when}: cost {course.cost:.3f}")
    way, step = points[[*course.actions, course.actions[0]]], drift.step
    before = course.actions[step - 1]  # at step 0 this is the depot, where the route ends
    ends = {before: panels.INK, course.actions[step]: color}
    x, y = points.T
    few = len(points) <= CROWDED
    named = {action for action, *_ in drift.likeliest}
    axes.plot(*way[:step].T, color=panels.INK, linewidth=1.8, zorder=2)
    axes.plot(*way[step:].T, color=color, linewidth=0.9, alpha=0.75, zorder=1)
    axes.annotate(
        "", way[step], points[before], zorder=4,
        arrowprops={"arrowstyle": "-|>", "color": color, "linewidth": 2.6, "shrinkB": 5},
    )  # fmt: skip
    sizes = [80 if few or action in named else 8 for action in range(len(points))]
    axes.scatter(x, y, s=sizes, color="white", zorder=5, edgecolor=panels.SOFT, linewidth=0.8)
    for action, shade in ends.items():
        axes.scatter(x[action], y[action], s=120, color=shade, zorder=6)
    if drift.has_depot:
        axes.scatter(x[0], y[0], s=110, marker="s", color="black", zorder=6)
    for index, action in enumerate(course.actions):
        if (few or action in ends or action in named) and not (drift.has_depot and action == 0):
            axes.annotate(
                str(drift.number(index)), points[action], ha="center", va="center", fontsize=6.5,
                color="white" if action in ends else panels.INK, zorder=7,
            )  # fmt: skip
    axes.set(aspect="equal", adjustable="datalim", xticks=[], yticks=[])
    axes.spines[:].set(visible=True, color=panels.PALE)
    return figures.png(figure)


def _actions(drift: Drift, labels: tuple[str, str]) -> bytes:
    """Draw the probabilities of the likeliest actions after the task and at the end."""
    actions, *both = zip(*drift.likeliest, strict=True)
    title = f"Decision {drift.number(drift.step)}"  # long labels leave little room for it
    figure, axes = panels.small(1.4 + 0.55 * len(actions), title, "probability of the action")
    place = np.arange(len(actions))
    for shift, color, values, label in zip((-0.2, 0.2), (THEN, NOW), both, labels, strict=True):
        name = panels.plain(panels.fitted(label, 3.3, 9))
        bars = axes.barh(place + shift, values, height=0.36, color=color, label=name)
        axes.bar_label(bars, labels=[f"{v:.3f}" for v in values], padding=3, fontsize=9)
    axes.set_yticks(place, [drift.name_of(action) for action in actions], fontsize=9)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.14)
    figure.legend(loc="outside lower left", fontsize=9, frameon=False)
    return figures.png(figure)


def _confidence(drift: Drift, titles: tuple[str, str]) -> bytes:
    """Draw the three highest probabilities of every decision along each route."""
    figure = panels.empty_figure(panels.NARROW, 4.0)
    here = drift.number(drift.step)
    courses = zip((drift.then, drift.now), (THEN, NOW), titles, strict=True)
    for row, (course, color, title) in enumerate(courses):
        axes = figure.add_subplot(2, 1, row + 1)
        panels.dress(axes, title, "decision, as numbered on the map" * row, "probability")
        top = course.probs.topk(min(SHOWN, course.probs.shape[1]), dim=1).values.numpy()
        place = [drift.number(course.forced + i) for i in range(len(top))]
        below = np.zeros(len(top))
        for values, alpha in zip(top.T, (0.95, 0.5, 0.22), strict=False):
            axes.bar(place, values, bottom=below, width=0.9, color=color, alpha=alpha, linewidth=0)
            below += values
        axes.annotate("routes differ", (here, 1.0), (here, 1.16), ha="center", fontsize=8,
                      arrowprops={"arrowstyle": "-|>", "color": panels.INK})  # fmt: skip
        axes.set(ylim=(0, 1.3), yticks=[0, 0.5, 1])
        axes.tick_params(labelsize=8)
    return figures.png(figure)
