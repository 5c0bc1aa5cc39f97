"""The section about the buffer: its units of each task, and the confidence of its decisions."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import torch

from lifelong_co.errors import LifelongError
from lifelong_co.experiments.comparison import figures, panels
from lifelong_co.experiments.comparison.runs import FinishedRun
from lifelong_co.experiments.paper import naming
from lifelong_co.experiments.paper.buffer import (
    JUDGED,
    LIMITS,
    PAPER_CORRELATION,
    Contents,
    changed_decisions,
    contents,
    items_of,
    papers_units,
)
from lifelong_co.experiments.paper.studies import Chapter
from lifelong_co.experiments.report import Picture, Section
from lifelong_co.experiments.sheet import Cell, Row, Sheet, words
from lifelong_co.runs.folder import RunFolder
from lifelong_co.storage import checkpoint

WHO = ("problem", "method", "order", "seed")
POINTS = 4000
"""Highest number of states in a picture."""


def buffer_section(chapter: Chapter, log: Callable[[str], None]) -> Section:
    """Return the units by task and the correlation of every run that has checkpoints.

    For one run of each solver and problem the section has pictures, and compares the buffered
    decisions with the present decisions of the solver. It is a run of LLR-BC with the preset's
    options if there is one.
    """
    rows: dict[Path, Row] = {}
    changed: list[Row] = []
    pictures: list[Picture] = []
    notes: list[str] = []
    without = 0
    drawn: set[tuple[str, str]] = set()
    runs = list(chapter.runs())
    for study, variant, run in sorted(runs, key=lambda found: -naming.rank(found[1].method)):
        if not checkpoint.checkpoints(RunFolder(run.path).checkpoints):
            without += 1
            continue
        try:
            items = items_of(run)
            if not items:
                continue
            found = contents(run, items)
            log(f"buffer of {run.path}: {sum(found.units.values())} experiences")
            order, seed = chapter.orders[run.names], str(run.config.seed)
            who = words(study.problem.upper(), f"{variant.title} ({study.solver})", order, seed)
            rows[run.path] = (*who, *_counts(chapter, found))
            if variant.main and (study.problem, study.solver) not in drawn:
                drawn.add((study.problem, study.solver))
                shown = [each.shown for each in who]
                caption = f"{shown[0]}, {shown[1]}, {naming.order_title(order)}, seed {seed}"
                if figures.available():
                    key = f"{study.problem}-{study.solver}"
                    pictures += _pictures(run, found, key, caption)
                changed.append((*who, *map(_changed, changed_decisions(run, items))))
        except LifelongError as error:
            notes.append(f"{run.path}: {error}.")
    if without:
        notes.append(
            "The buffer is stored in the last checkpoint; runs without checkpoints in their"
            f" folders: {without}."
        )
    if not rows and not notes:
        notes.append("no method of these runs has a buffer of experiences.")
    sheets = []
    if rows:
        sheets.append(_sheet(chapter, [rows[run.path] for _, _, run in runs if run.path in rows]))
    if changed:
        sheets.append(_changed_sheet(changed))
    text = " ".join(notes)
    return Section("What is in the buffer", text, tuple(sheets), tuple(pictures), missing=text)


def _counts(chapter: Chapter, found: Contents) -> Row:
    known = [found.units.get(name, 0) for name in chapter.tasks]
    counts = [*known, sum(found.units.values()) - sum(known), found.states]
    return words(*map(str, counts), f"{found.correlation:.3f}")


def _sheet(chapter: Chapter, rows: Sequence[Row]) -> Sheet:
    """Return the units of every run; first those of the paper, if a run learned its tasks."""
    papers = next(filter(None, (papers_units(run) for _, _, run in chapter.runs())), None)
    first = [] if papers is None else [
        words("-", "llr-bc, the paper", "1", "-", *(str(papers[name]) for name in chapter.tasks),
              "0", "-", f"{PAPER_CORRELATION:.3f}")
    ]  # fmt: skip
    return Sheet(
        key="buffer",
        title="Buffered units of each task at the end of a run, and a correlation of their states",
        header=(*WHO, *chapter.tasks, "other runs", "states", "correlation"),
        blocks=(*([tuple(first)] if first else []), tuple(rows)),
        left=len(WHO),
        note="A unit is one decoding step of one batch, with one state for each trajectory of each"
        " instance; with `bundle_size = 0` a unit is a whole solution. Variance and entropy are"
        " divided by the highest possible value for the number of actions, as in the weightings."
        " The correlation is Pearson's, of variance and negative entropy over all buffered states;"
        f" it is {PAPER_CORRELATION} in the paper.",
        best_of="none",
    )


def _changed(counts: tuple[int, int]) -> Cell:
    states, changed = counts
    if not states:
        return Cell("-")
    parts = {"changed_fraction": f"{changed / states:.6f}", "states": str(states)}
    return Cell(f"{changed / states:.1%} of {states}", parts)


def _changed_sheet(rows: Sequence[Row]) -> Sheet:
    ranges = [f"{low:g} to {high:g}" for low, high in pairwise((0, *LIMITS, 1))]
    return Sheet(
        key="drift",
        title="Buffered decisions whose likeliest action has changed by the end, by confidence",
        header=(*WHO, *ranges),
        spans=(("", len(WHO)), ("confidence", len(ranges))),
        blocks=(tuple(rows),),
        left=len(WHO),
        note="The confidence is that of the buffered behavior: its variance divided by the highest"
        f" possible one. At most {JUDGED} buffered steps are judged, spread evenly over those of"
        " all tasks except the last. Their states with more than one feasible action count. The"
        " table has one run of each problem and solver.",
        best_of="none",
    )


def _pictures(run: FinishedRun, found: Contents, key: str, who: str) -> list[Picture]:
    """Draw the units by task, and the two measures of confidence against each other."""
    papers = papers_units(run)
    names, counts = list(found.units), list(found.units.values())
    bars, axes = panels.small(0.8 + 0.26 * len(names), x="units")
    place = range(len(names))
    axes.barh(place, counts, color=panels.COLORS[0], height=0.7)
    ends: list[float] = [*counts]
    if papers:
        share = sum(counts) / sum(papers.values())
        shares = [papers.get(name, 0) * share for name in names]
        axes.plot(shares, place, "D", color=panels.COLORS[1], markersize=5)
        ends = [*map(max, counts, shares)]
    for at, count, end in zip(place, counts, ends, strict=True):  # right of bar and diamond
        axes.annotate(str(count), (end, at), xytext=(8, 0), textcoords="offset points",
                      va="center", fontsize=9, color=panels.COLORS[0])  # fmt: skip
    labels = [panels.plain(panels.fitted(name, panels.NARROW / 3, 9)) for name in names]
    axes.set_yticks(place, labels, fontsize=9)
    axes.invert_yaxis()
    axes.margins(x=0.15)

    correlation = f"correlation {found.correlation:.3f}"
    measures = ("variance / highest possible variance", "1 − entropy / highest possible entropy")
    scatter, axes = panels.small(3.2, correlation, *measures)
    some = torch.linspace(0, found.states - 1, min(POINTS, found.states)).long()
    x, y = found.confidence[:, some].numpy()
    axes.scatter(x, y, s=5, alpha=0.25, color=panels.COLORS[0],
                 linewidths=0)  # fmt: skip
    units = f"Units in the buffer by task (bar and number): {who}."
    states = f"Two measures of confidence of the buffered states: {who}; {correlation}."
    return [
        Picture(f"buffer-{key}", units + " Diamonds: the shares in the paper." * bool(papers),
                figures.png(bars)),
        Picture(f"confidence-{key}", states, figures.png(scatter)),
    ]  # fmt: skip
