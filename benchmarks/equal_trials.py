"""What each trial of a tuning came to on every problem and order, and which one it chose."""

import math
import statistics

from row_values import made_by, measured

from lifelong_co.config.run_config import Config
from lifelong_co.experiments.sheet import Sheet, words
from lifelong_co.experiments.spread import Spread, show
from lifelong_co.experiments.sweep.plan import Block, Row
from lifelong_co.experiments.sweep.table import Results

Place = tuple[str, str]
"""A problem and an order."""


def equal_trials(found: Results, block: Block, names: list[str]) -> Sheet:  # noqa: ARG001
    """Return AP of each row of a table on all problems and orders that the study has of it.

    Of the trials of a method the one with the lowest mean is chosen, if all of them have a run
    everywhere.
    """
    configs = {row.label: config_of(found, row) for row in block.rows}
    planned = {label: places_of(found, label, configs[label].preset) for label in configs}
    places = sorted({place for each in planned.values() for place in each})
    values = {label: aps(found, each) for label, each in planned.items()}
    means = {
        label: statistics.fmean(each.values())
        for label, each in values.items()
        if set(each) == set(places)
    }
    shown = []
    for label, config in configs.items():
        rivals = [other for other in configs if configs[other].method == config.method]
        whole = all(other in means for other in rivals)
        best = whole and means[label] == min(means[other] for other in rivals)
        numbers = [*(values[label].get(place) for place in places), means.get(label)]
        cells = [show(Spread(math.nan if number is None else number)) for number in numbers]
        shown.append(words(label, *cells, "yes" if best else ""))
    heads = [f"{problem.upper()}, {order.replace('order', 'order ')}" for problem, order in places]
    every = [row for each in planned.values() for row, _ in each.values()]
    return Sheet(
        key="trials",
        title="",
        header=("trial", *heads, "mean", "chosen"),
        blocks=(tuple(shown),),
        note=f"AP, one seed. {made_by(found, every)}",
        best_of="none",
    )


def config_of(found: Results, row: Row) -> Config:
    """Return the configuration of the first run of a row."""
    return found.plan.jobs[row.cells[0][2]].config


def places_of(found: Results, label: str, preset: str) -> dict[Place, tuple[Row, int]]:
    """Return where the rows of a name have a run: problem and order to row and seed."""
    places: dict[Place, tuple[Row, int]] = {}
    for block in found.plan.blocks:
        for row in block.rows:
            if row.label != label or config_of(found, row).preset != preset:
                continue
            for order, seed, _ in row.cells:
                place = block.problem, order
                if places.setdefault(place, (row, seed))[1] != seed:
                    raise ValueError(f"{label}, {place}: expected one seed, got two")
    return places


def aps(found: Results, planned: dict[Place, tuple[Row, int]]) -> dict[Place, float]:
    """Return the AP of the finished runs."""
    return {
        place: metrics.AP
        for place, (row, seed) in planned.items()
        for (order, (of, _)), metrics in measured(found, row).items()
        if (order, of) == (place[1], seed)
    }
