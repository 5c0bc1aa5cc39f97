"""The table that splits AP into what was never learned, forgotten and gained back."""

from collections.abc import Iterable, Mapping, Sequence

import attrs

from lifelong_co.experiments.comparison.comparison import Comparison
from lifelong_co.experiments.comparison.runs import FinishedRun
from lifelong_co.experiments.sheet import Row, Sheet, words
from lifelong_co.experiments.spread import OVER_ORDERS, OVER_SEEDS, Spread, cell, spread
from lifelong_co.runs import measured

COLUMNS = ("AP", "never learned", "forgotten", "gained back")
NOTE = (
    "In 10^-3. AP = never learned + forgotten - gained back. Never learned (APl): the mean gap on"
    " each task just after learning it. Forgotten, gained back: the means over all tasks of how far"
    " the gap rose, or fell, from then to the end."
)


def split_of(run: FinishedRun, best: Mapping[str, float]) -> tuple[float, ...]:
    """Return AP and the parts of `metrics.split`, in the order of `COLUMNS`, of a lifelong run."""
    found = measured.split(run.rows, [best[name] for name in run.names])
    return (found.never_learned + found.forgotten - found.gained_back, *attrs.astuple(found))


def split_table(comparison: Comparison) -> Sheet:
    """Return a row per group, without methods that learn all tasks at once.

    It has no row if `Comparison.alone`.
    """
    rows = []
    for group in comparison.groups:
        if not (group.runs[0].knows_all_tasks or comparison.alone):
            each = [split_of(run, comparison.best) for run in group.runs]
            spreads = [spread(values, comparison.definition) for values in zip(*each, strict=True)]
            rows.append(split_row(group.label, len(each), spreads, OVER_SEEDS))
    return split_sheet(rows)


def split_row(
    label: str, runs: int, spreads: Iterable[Spread], names: Sequence[str] = OVER_ORDERS
) -> Row:
    """Return a row of the table: a method, its number of runs, and the spread of each column."""
    return (*words(label, str(runs)), *(cell(each, names) for each in spreads))


def split_sheet(rows: Sequence[Row], key: str = "split", title: str = "") -> Sheet:
    """Return the table of some rows, at least one."""
    return Sheet(
        key=key,
        title=title or "What AP consists of",
        header=("method", "runs", *COLUMNS),
        blocks=(tuple(rows),),
        note=NOTE,
        best_of="none",
    )
