"""Mean costs after learning, and gaps to near-optimal costs (paper, appendix D)."""

from collections.abc import Sequence
from statistics import fmean

from lifelong_co.experiments.comparison.runs import final_note
from lifelong_co.experiments.comparison.selection import MARKS, shown
from lifelong_co.experiments.paper.studies import Chapter, Study, Variant
from lifelong_co.experiments.references.gaps import MeanReferences, gap, mean_references
from lifelong_co.experiments.references.places import Places
from lifelong_co.experiments.sheet import Cell, Sheet, words


def cost_sheets(chapter: Chapter, places: Places) -> tuple[list[Sheet], list[str]]:
    """Return sheets for each problem, and notes about references that could not be read.

    As in the paper, the methods of the first solver always have a sheet. Other solvers and
    variants have a sheet only if there are references, because only gaps compare across them.
    """
    sheets: list[Sheet] = []
    notes: list[str] = []
    known: dict[str, MeanReferences] = {}  # all solvers of a chapter have the same tests
    for solver in chapter.solvers:
        for problem, study in chapter.of(solver).items():
            if problem not in known:
                known[problem] = mean_references(study.variants[0].runs[0].config, places)
                notes += [f"references of {problem}: {note}" for note in known[problem].notes]
            found, key = known[problem], f"distances-{problem}"
            key += "" if solver == chapter.solvers[0] else f"-{solver}"
            if found.means or solver == chapter.solvers[0]:
                sheets += _sheet(chapter, study, study.main, found, key)
            if found.means:
                others = [variant for variant in study.variants if not variant.main]
                sheets += _sheet(chapter, study, others, found, f"{key}-varied")
    return sheets, notes


def _sheet(
    chapter: Chapter, study: Study, variants: Sequence[Variant], found: MeanReferences, key: str
) -> list[Sheet]:
    means = found.means
    tasks = [chapter.tasks[j] for j in shown(len(chapter.tasks), MARKS)]
    several = len(study.orders) > 1
    blocks = []
    for order, name in chapter.orders.items():
        rows = []
        for variant in variants:
            runs = variant.of(order)
            costs = {task: fmean(run.final[task] for run in runs) for task in tasks if runs}
            cells = [_cell(cost, means.get(task)) for task, cost in costs.items()]
            rows += [(*words(*[name] * several, variant.title), *cells)] if runs else []
        blocks += [tuple(rows)] if rows else []
    if not blocks:
        return []
    kind, note = "Mean cost", "Mean cost over test instances and seeds after the last task."
    note = f"{note} {final_note(run for each in variants for run in each.runs)}".rstrip()
    if means:
        cells = [_cell(means[name]) if name in means else Cell("-") for name in tasks]
        blocks.insert(0, ((*words(*[""] * several, "reference"), *cells),))
        kind += " (optimality gap)"
        note += f" In parentheses: the gap to the mean reference {found.origin}."
    if len(tasks) < len(chapter.tasks):
        note += f" {len(tasks)} of {len(chapter.tasks)} tasks are shown."
    missing = [name for name in tasks if name not in means]
    if missing:
        note += (
            f" There are no references for {', '.join(missing)} in {found.places.own};"
            " `lifelong-co reference --run DIR` finds them."
        )
    which = "" if variants == study.main else ", hyperparameters and ablations"
    sheet = Sheet(
        key=key,
        title=f"{kind} on {study.problem.upper()} ({study.solver}){which}",
        header=(*["order"] * several, "method", *tasks),
        blocks=tuple(blocks),
        left=1 + several,
        note=note,
    )
    return [sheet]


def _cell(cost: float, mean: float | None = None) -> Cell:
    """Return a mean cost, with its gap if there is a mean reference."""
    shown, parts = f"{cost:.3f}", {"": f"{cost:.6g}"}
    if mean is not None:
        above = gap(cost, mean)
        shown, parts = f"{shown} ({above:.1%})", {**parts, "gap_fraction": f"{above:.6f}"}
    return Cell(shown, parts, rank=round(cost, 3))
