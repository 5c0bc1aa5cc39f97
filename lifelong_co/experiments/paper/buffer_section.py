"""The section about the buffer: units of each task, and how two measures of confidence agree."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from lifelong_co.errors import LifelongError
from lifelong_co.experiments.comparison import figures
from lifelong_co.experiments.comparison.runs import Run
from lifelong_co.experiments.paper.buffer_contents import (
    PAPER_CORRELATION,
    Contents,
    contents,
    items_of,
    papers_units,
)
from lifelong_co.experiments.paper.buffer_pictures import buffer_pictures
from lifelong_co.experiments.paper.contents import Picture, Section
from lifelong_co.experiments.paper.drift_by_confidence import LIMITS, Kept, kept_decisions
from lifelong_co.experiments.paper.naming import order_title
from lifelong_co.experiments.paper.studies import Chapter, Study, Variant
from lifelong_co.experiments.sheet import Cell, Row, Sheet, words
from lifelong_co.runs.folder import RunFolder
from lifelong_co.storage import checkpoint

HEADING = "What is in the buffer"


def buffer_section(chapter: Chapter, tell: Callable[[str], None]) -> Section:
    """Return the units by task and the correlation of every run whose checkpoints are there.

    One run of each solver and problem is drawn, of LLR-BC as it is if there is one, and its
    buffered decisions are held against what its solver would do now.
    """
    rows: dict[Path, Row] = {}
    kept: list[Row] = []
    pictures: list[Picture] = []
    notes: list[str] = []
    without = 0
    drawn: set[tuple[str, str]] = set()
    everything = list(chapter.runs())
    for study, variant, run in sorted(everything, key=lambda found: found[1].method != "llr-bc"):
        if not checkpoint.checkpoints(RunFolder(run.path).checkpoints):
            without += 1
            continue
        try:
            items = items_of(run)
            if not items:
                continue
            found = contents(run, items)
            tell(f"buffer of {run.path}: {sum(found.units.values())} experiences")
            who = _who(chapter, study, variant, run)
            rows[run.path] = _row(chapter, who, found)
            if variant.main and (study.problem, study.solver) not in drawn:
                drawn.add((study.problem, study.solver))
                pictures += (
                    buffer_pictures(found, study.solver, _told(who)) if figures.available() else []
                )
                kept.append(_kept_row(who, kept_decisions(run, items)))
        except LifelongError as error:
            notes.append(f"{run.path}: {error}.")
    if without:
        notes.append(
            f"{without} of the runs have no checkpoints beside their costs; the buffer is in the"
            " last one."
        )
    if not rows and not notes:
        notes.append("no method of these runs has a buffer of experiences.")
    sorted_rows = [rows[run.path] for _, _, run in everything if run.path in rows]
    sheets = [_sheet(chapter, sorted_rows)] if rows else []
    sheets += [_kept_sheet(kept)] if kept else []
    said = " ".join(notes)
    return Section(HEADING, said, tuple(sheets), tuple(pictures), missing=said)


def _who(chapter: Chapter, study: Study, variant: Variant, run: Run) -> list[str]:
    order = chapter.orders[run.names]
    return [
        study.problem.upper(),
        f"{variant.title} ({study.solver})",
        order,
        str(run.config.seed),
    ]


def _told(who: Sequence[str]) -> str:
    problem, method, order, seed = who
    return f"{problem}, {method}, {order_title(order)}, seed {seed}"


def _row(chapter: Chapter, who: Sequence[str], found: Contents) -> Row:
    held = found.units
    elsewhere = sum(held.values()) - sum(held.get(name, 0) for name in chapter.tasks)
    return (
        *words(*who, *(str(held.get(name, 0)) for name in chapter.tasks), str(elsewhere)),
        *words(f"{found.states}", f"{found.correlation:.3f}"),
    )


def _sheet(chapter: Chapter, rows: Sequence[Row]) -> Sheet:
    header = ("problem", "method", "order", "seed", *chapter.tasks, "other runs", "states")
    papers = _papers_row(chapter)
    return Sheet(
        key="buffer",
        title="Buffered units of each task at the end of a run, and the correlation of variance and"
        " negative entropy over all buffered states",
        header=(*header, "correlation"),
        blocks=(*([(papers,)] if papers else []), tuple(rows)),
        left=4,
        note="A unit is one decoding step of one batch, a state one trajectory of one of its"
        " instances. Variance and entropy are taken over the greatest possible at so many actions,"
        f" as weighting does; Pearson's correlation, in the paper {PAPER_CORRELATION}.",
        best_of="none",
    )


def _papers_row(chapter: Chapter) -> Row | None:
    """Return the paper's own counts where a run learned its tasks."""
    papers = next((found for _, _, run in chapter.runs() if (found := papers_units(run))), None)
    if papers is None:
        return None
    counts = [str(papers[name]) for name in chapter.tasks]
    first = ("-", "llr-bc, the paper", "1", "-")
    return words(*first, *counts, "0", "-", f"{PAPER_CORRELATION:.3f}")


def _kept_row(who: Sequence[str], kept: Sequence[Kept]) -> Row:
    cells = [
        Cell("-")
        if not each.states
        else Cell(
            f"{each.changed / each.states:.1%} of {each.states}",
            {
                "changed_fraction": f"{each.changed / each.states:.6f}",
                "states": str(each.states),
            },
        )
        for each in kept
    ]
    return (*words(*who), *cells)


def _kept_sheet(rows: Sequence[Row]) -> Sheet:
    ends = [f"{value:g}" for value in (0, *LIMITS, 1)]
    ranges = [f"{low} to {high}" for low, high in pairwise(ends)]
    return Sheet(
        key="drift",
        title="Buffered decisions whose likeliest action is another one at the end, by confidence",
        header=("problem", "method", "order", "seed", *ranges),
        spans=(("", 4), ("confidence", len(ranges))),
        blocks=(tuple(rows),),
        left=4,
        note="Confidence, when it was buffered: the variance of the behavior over the greatest"
        " possible; states of tasks before the last with more than one feasible action.",
        best_of="none",
    )
