"""Mean costs after learning, and gaps to near-optimal ones (paper, appendix D)."""

import statistics
from collections.abc import Mapping
from pathlib import Path

from lifelong_co.errors import LifelongError
from lifelong_co.report.book.sheet import Cell, Row, Sheet, words
from lifelong_co.report.book.studies import Arrival, Chapter, Study, Variant
from lifelong_co.report.gaps import mean_references

SINGLE = "restart"
"""It learns every task anew, so each task is measured just after it was learned (paper, D.1)."""


def distances(chapter: Chapter, references: Path) -> tuple[list[Sheet], list[str]]:
    """Return a sheet for each problem, and what could not be found out."""
    sheets, notes = [], []
    solver = chapter.solvers[0]
    for problem, study in chapter.of(solver).items():
        means: Mapping[str, float] = {}
        if references.is_dir():
            try:
                means = mean_references(study.variants[0].runs[0].config, references).means
            except LifelongError as error:
                notes.append(f"references of {problem}: {error}")
        sheets += _sheet(chapter, study, means, references)
    return sheets, notes


def _sheet(
    chapter: Chapter, study: Study, means: Mapping[str, float], references: Path
) -> list[Sheet]:
    several = len(study.orders) > 1
    blocks = []
    for order, name in chapter.orders.items():
        rows = [
            (*words(*[name] * several, each.name), *_cells(chapter, each, order, means))
            for each in study.main
            if each.of(order)
        ]
        blocks += [tuple(rows)] if rows else []
    if not blocks:
        return []
    if means:
        blocks.insert(0, (_reference_row(chapter, several, means),))
    note = "Mean cost over the test instances once the last task is learned, mean over seeds."
    if any(variant.method == SINGLE for variant in study.main):
        note += f" {SINGLE} is measured on each task just after learning it."
    missing = [name for name in chapter.tasks if name not in means]
    if means:
        note += f" In parentheses the gap to the mean reference in {references}."
    if missing:
        note += (
            f" No references for {', '.join(missing)} in {references}:"
            " `lifelong-co reference --run DIR` finds them."
        )
    return [
        Sheet(
            key=f"distances-{study.problem}",
            title=f"Mean cost{' (optimality gap)' if means else ''} on {study.problem.upper()}"
            f" ({study.solver})",
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
    for name in chapter.tasks:
        j = order.index(name)
        row = j if variant.method == SINGLE else -1
        cost = statistics.fmean(run.costs[row][j] for run in variant.of(order))
        shown, parts = f"{cost:.3f}", {"": f"{cost:.6g}"}
        if name in means:
            gap = cost / means[name] - 1
            shown, parts = f"{shown} ({gap:.1%})", {**parts, "gap_fraction": f"{gap:.6f}"}
        cells.append(Cell(shown, parts, rank=round(cost, 3)))
    return cells
