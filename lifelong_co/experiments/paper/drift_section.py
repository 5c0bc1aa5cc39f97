"""The section about a decision that drifted, an example for each problem."""

from collections.abc import Callable

from lifelong_co.errors import LifelongError
from lifelong_co.experiments.comparison import figures
from lifelong_co.experiments.comparison.runs import Run
from lifelong_co.experiments.paper.contents import Picture, Section
from lifelong_co.experiments.paper.drift_pictures import likeliest, name_of, number, pictures
from lifelong_co.experiments.paper.drifted_decision import (
    INSTANCES,
    SHARED,
    Example,
    example,
    has_checkpoints,
)
from lifelong_co.experiments.paper.studies import Chapter, Study
from lifelong_co.experiments.sheet import Cell, Sheet

HEADING = "A low-confidence decision that drifts"
FIRST = "fine-tuning"
"""The paper's example is of it."""
ANEW = "restart"
TRIED = 3
"""Runs in which an example is looked for."""


TEXT = (
    "An instance of an early task, solved by the solver as it was after that task and as it is"
    " after the last one. Both begin alike; where they part they are in the same state, and the"
    " likeliest action there is another one now. Shown is the least confident of such decisions on"
    f" {INSTANCES} test instances, of those on which the new solution is longer and the two share"
    f" {SHARED} decisions or more, if there are any."
)


def drift_sections(chapter: Chapter, tell: Callable[[str], None]) -> list[Section]:
    """Return an example of each problem with the chapter's first solver."""
    return [
        _section(f"{HEADING}: {problem.upper()}", study, tell)
        for problem, study in chapter.of(chapter.solvers[0]).items()
    ]


def _section(heading: str, study: Study, tell: Callable[[str], None]) -> Section:
    missing = "needs a run's checkpoints/, with the parameters after each task."
    for run in _candidates(study)[:TRIED]:
        tell(f"looking for a drifted decision in {run.path}")
        try:
            found = example(run)
        except LifelongError as error:
            missing = f"{run.path}: {error}"
            continue
        if found is not None:
            drawn = _pictures(study.problem, found) if figures.available() else []
            return Section(heading, TEXT, (_sheet(study.problem, found),), tuple(drawn))
        missing = "no decision drifted on the instances searched."
    return Section(heading, missing=missing)


def _candidates(study: Study) -> list[Run]:
    # What starts anew keeps nothing that could drift.
    variants = [variant for variant in study.main if variant.method != ANEW]
    variants.sort(key=lambda variant: variant.method != FIRST)
    return [run for each in variants for run in each.runs if has_checkpoints(run)]


def _sheet(problem: str, found: Example) -> Sheet:
    drift = found.drift
    block = tuple(
        (
            Cell(name_of(drift, action).replace("\n", ", ")),
            *(Cell(f"{p:.3f}", {"": f"{p:.6g}"}) for p in (then, now)),
        )
        for action, then, now in likeliest(drift)
    )
    config = found.run.config
    return Sheet(
        key=f"drifted-decision-{problem}",
        title=f"Decision {number(drift, drift.step)} on an instance of {found.task},"
        f" {problem.upper()}, {config.method} ({config.solver}), seed {config.seed}",
        header=("action", f"after {found.task}", "after the last task"),
        blocks=(block,),
        note="Probabilities of the three likeliest actions of each. Confidence then, by variance:"
        f" {1 - drift.weight:.3f} of 1. Cost {drift.then.cost:.4f} then,"
        f" {drift.now.cost:.4f} now.",
        best_of="none",
    )


def _pictures(problem: str, found: Example) -> list[Picture]:
    captions = {
        "then": f"The route after {found.task}. Numbers count the actions; up to the decision (dark"
        " line) both routes are one.",
        "now": "The route after the last task, from the same start.",
        "actions": "The likeliest actions at the decision; a node is named by its number on either"
        " map.",
        "confidence": "The three greatest probabilities of every decision, the greatest at the"
        " bottom.",
    }
    of = f"{problem.upper()}, {found.run.config.method}"
    return [
        Picture(f"drift-{problem}-{name}", f"{of}: {captions[name]}", png)
        for name, png in pictures(found.drift, found.task).items()
    ]
