"""The plumbing of the tables of metrics: a table, and the cells of some runs in each study."""

import math
from collections.abc import Collection, Iterable, Sequence
from itertools import repeat
from typing import Literal

import attrs

from lifelong_co import metrics
from lifelong_co.experiments.comparison.runs import FinishedRun
from lifelong_co.experiments.comparison.tables import not_measured
from lifelong_co.experiments.definitions import WORDS
from lifelong_co.experiments.paper.studies import Chapter, Study
from lifelong_co.experiments.sheet import THOUSANDTHS, Cell, Row, Sheet
from lifelong_co.experiments.spread import LEVEL, OVER_ORDERS, Spread, cell

COMMON = (
    "In 10⁻³, lower is better: gaps (d − d*) / d*. d* is the lowest mean cost on a task {tests} of"
    " the runs here with the same solver and problem, except multi-task runs. AF and AMF are"
    " {forgetting}. mean (s) ± c: mean over orders and seeds; s: {deviation} standard deviation of"
    " the means of the orders (with several orders); c: half-width of the"
    f" {LEVEL:.0%} confidence interval over seeds (with several seeds). A best value is marked only"
    " where all rows of a block have the same seeds."
)


def metric_sheet(
    chapter: Chapter,
    key: str,
    title: str,
    first: Sequence[str],
    problems: Collection[str],
    blocks: Iterable[Sequence[Row]],
    note: str = "",
    best_of: Literal["column", "none"] = "column",
) -> Sheet:
    """Return a table with some columns of words, then a group of columns for each problem."""
    group = ("runs", *metrics.NAMES)
    return Sheet(
        key=key,
        title=title + WORDS[chapter.definition].title,
        header=(*first, *group * len(problems)),
        spans=(("", len(first)), *((problem.upper(), len(group)) for problem in problems)),
        blocks=tuple(map(tuple, blocks)),
        left=len(first),
        note=note,
        common=common(chapter),
        best_of=best_of,
    )


def common(chapter: Chapter) -> str:
    """Return what all tables of metrics of a chapter mean."""
    said = COMMON.format(**attrs.asdict(WORDS[chapter.definition]))
    return f"{said} {not_measured(run for _, _, run in chapter.runs())}".rstrip()


def groups(
    found: Iterable[tuple[Study | None, Sequence[FinishedRun]]], fair: Iterable[bool] = repeat(True)
) -> list[Cell]:
    """Return the number of runs and their metrics in each study; dashes without runs.

    ``fair`` says for each study whether its values are compared with those of other rows.
    """
    made: list[Cell] = []
    for (study, runs), compared in zip(found, fair, strict=False):
        if study is None or not runs:
            made += [Cell("-"), *[measure(Spread(math.nan))] * len(metrics.NAMES)]
        else:
            made += [Cell(str(len(runs))), *ranked(cells(study, runs), compared)]
    return made


def same_seeds(rows: Iterable[Sequence[FinishedRun]]) -> bool:
    """Return whether all rows that have runs have them of the same orders and seeds."""
    found = {frozenset((run.names, run.seed) for run in runs) for runs in rows if runs}
    return len(found) <= 1


def ranked(row: Iterable[Cell], fair: bool) -> list[Cell]:
    """Return the cells, compared with those of other rows only if that is fair."""
    return [each if fair else attrs.evolve(each, rank=None) for each in row]


def cells(study: Study, runs: Sequence[FinishedRun], k: int | None = None) -> list[Cell]:
    """Return the metrics of some runs of one variant, after ``k`` tasks; None: after all."""
    return [measure(spread) for spread in study.spreads(runs, k).values()]


def measure(spread: Spread) -> Cell:
    """Return the cell of a metric; CSV has a column for each of its numbers that is defined."""
    made = cell(spread, OVER_ORDERS)
    parts = {name: number for name, number in made.parts.items() if number}
    return attrs.evolve(made, parts=parts or {THOUSANDTHS: ""})
