"""What each trial of a tuning came to on every problem and order, and which one it chose."""

import statistics

from row_values import commits, measured

from lifelong_co.experiments.sheet import SCALE, Sheet, words
from lifelong_co.experiments.sweep.plan import Block, Row
from lifelong_co.experiments.sweep.table import Results

Place = tuple[str, str]
"""A problem and an order."""


def equal_trials(found: Results, block: Block, names: list[str]) -> Sheet:  # noqa: ARG001
    """Return AP of each row of a table on all problems and orders that the study has of it.

    The trials of a method are the rows whose names are alike up to the last comma. The one with the
    lowest mean is chosen, if all of them have a run everywhere.
    """
    labels = [row.label for row in block.rows]
    preset = preset_of(found, block.rows[0])
    rows = {label: rows_of(found, label, preset) for label in labels}
    places = sorted({place for each in rows.values() for place in each})
    values = {label: aps(found, rows[label]) for label in labels}
    means = {
        label: statistics.fmean(each.values())
        for label, each in values.items()
        if set(each) == set(places)
    }
    shown = []
    for label in labels:
        rivals = [other for other in labels if method(other) == method(label)]
        whole = all(other in means for other in rivals)
        best = whole and means[label] == min(means[other] for other in rivals)
        cells = [in_thousandths(values[label].get(place)) for place in places]
        mean = in_thousandths(means.get(label))
        shown.append(words(label, *cells, mean, "yes" if best else ""))
    heads = [f"{problem.upper()}, {order.replace('order', 'order ')}" for problem, order in places]
    every = (row for each in rows.values() for row in each.values())
    return Sheet(
        key="trials",
        title="",
        header=("trial", *heads, "mean", "chosen"),
        blocks=(tuple(shown),),
        note=f"AP, one seed. Commit {', '.join(commits(found, every))}.",
        best_of="none",
    )


def method(label: str) -> str:
    """Return the name of a row without its weight."""
    return label.rpartition(", ")[0]


def preset_of(found: Results, row: Row) -> str:
    """Return the preset of the runs of a row."""
    return found.plan.jobs[row.cells[0][2]].config.preset


def rows_of(found: Results, label: str, preset: str) -> dict[Place, Row]:
    """Return the rows of a name and a preset by problem and order; each has one run."""
    return {
        (block.problem, row.cells[0][0]): row
        for block in found.plan.blocks
        for row in block.rows
        if row.label == label and preset_of(found, row) == preset
    }


def aps(found: Results, rows: dict[Place, Row]) -> dict[Place, float]:
    """Return the AP of the finished runs."""
    return {
        place: metrics.AP
        for place, row in rows.items()
        for metrics in measured(found, row).values()
    }


def in_thousandths(value: float | None) -> str:
    """Return a metric as the tables have it."""
    return "-" if value is None else f"{SCALE * value:.1f}"
