"""Mean costs after learning, and gaps to near-optimal ones (paper, appendix D)."""

import statistics
from collections.abc import Mapping, Sequence

from lifelong_co.experiments.comparison.runs import final_note
from lifelong_co.experiments.paper.studies import Arrival, Chapter, Study, Variant
from lifelong_co.experiments.references.gaps import MeanReferences, gap, mean_references
from lifelong_co.experiments.references.places import Places
from lifelong_co.experiments.sheet import Cell, Row, Sheet, words


def distances(chapter: Chapter, places: Places) -> tuple[list[Sheet], list[str]]:
    """Return sheets for each problem, and what could not be found out.

    The first solver's methods as they are always have one, as in the paper; other solvers, and what
    was varied, where there are references, as it is gaps that can be compared across them.
    """
    sheets: list[Sheet] = []
    notes: list[str] = []
    known: dict[str, MeanReferences] = {}  # the solvers of a chapter are tested alike
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
    several = len(study.orders) > 1
    blocks = []
    for order, name in chapter.orders.items():
        rows = [
            (*words(*[name] * several, each.title), *_cells(chapter, each, order, means))
            for each in variants
            if each.of(order)
        ]
        blocks += [tuple(rows)] if rows else []
    if not blocks:
        return []
    if means:
        blocks.insert(0, (_reference_row(chapter, several, means),))
    note = "Mean cost over the test instances once the last task is learned, mean over seeds."
    note = f"{note} {final_note(run for each in variants for run in each.runs)}".rstrip()
    missing = [name for name in chapter.tasks if name not in means]
    if means:
        note += f" In parentheses the gap to the mean reference {found.origin}."
    if missing:
        note += (
            f" No references for {', '.join(missing)} in {found.places.own}:"
            " `lifelong-co reference --run DIR` finds them."
        )
    kind = f"Mean cost{' (optimality gap)' if means else ''}"
    which = "" if variants == study.main else ", hyperparameters and ablations"
    return [
        Sheet(
            key=key,
            title=f"{kind} on {study.problem.upper()} ({study.solver}){which}",
            header=(*["order"] * several, "method", *chapter.tasks),
            blocks=tuple(blocks),
            left=1 + several,
            note=note,
        )
    ]


def _reference_row(chapter: Chapter, several: bool, means: Mapping[str, float]) -> Row:
    known = [means.get(name) for name in chapter.tasks]
    cells = [Cell("-" if m is None else f"{m:.3f}", {} if m is None else {"": f"{m:.6g}"})
             for m in known]  # fmt: skip
    return (*words(*[""] * several, "reference"), *cells)


def _cells(
    chapter: Chapter, variant: Variant, order: Arrival, means: Mapping[str, float]
) -> list[Cell]:
    cells = []
    costs = [run.final for run in variant.of(order)]
    for name in chapter.tasks:
        cost = statistics.fmean(each[name] for each in costs)
        shown, parts = f"{cost:.3f}", {"": f"{cost:.6g}"}
        if name in means:
            above = gap(cost, means[name])
            shown, parts = f"{shown} ({above:.1%})", {**parts, "gap_fraction": f"{above:.6f}"}
        cells.append(Cell(shown, parts, rank=round(cost, 3)))
    return cells
