"""The benchmark tables: cost and gap of each checkpoint, and the paper's normalised values."""

import math
from collections.abc import Sequence

from lifelong_co.experiments import formats
from lifelong_co.experiments.benchmark.compared import compare, mean_gap, normalise, to_best_known
from lifelong_co.experiments.benchmark.results import Result
from lifelong_co.experiments.sheet import Cell, Row, Sheet, words
from lifelong_co.experiments.spread import Spread, cell

CSV = (
    *("instance", "n", "best_known", "checkpoint", "cost", "gap_fraction"),
    *("length", "batch", "seconds_per_instance"),
)
COSTS = "Cost in the files' rounded distances, and gap to the best known cost"
NORMALISED = (
    "Normalised as in the paper: (d - d*) / d* in 10^-3, "
    "d* the least {what} of these checkpoints; mean (standard deviation) over instances"
)


def cost_table(results: Sequence[Result]) -> Sheet:
    """Return a row per instance: size, best known cost, then cost and gap of each checkpoint."""
    found = compare(results)
    rows: list[Row] = []
    for instance, row in found.rows.items():
        first = row[found.solvers[0]]
        cells = words(instance, str(first.size), number(first.best_known))
        for name in found.solvers:
            cells += (Cell(str(row[name].cost)), _gap(to_best_known(row[name])))
        rows.append(cells)
    last = words("mean", "", "")
    for name in found.solvers:
        last += (Cell(""), _gap(mean_gap(found, name).mean))
    return Sheet(
        key="costs",
        title=COSTS,
        header=("instance", "n", "best known", *("cost", "gap") * len(found.solvers)),
        spans=(("", 3), *((name, 2) for name in found.solvers)),
        blocks=(tuple(rows), (last,)),
        best_of="none",
    )


def normalised_table(results: Sequence[Result], *, rounded: bool) -> Sheet:
    """Return the paper's table: `compared.above` in 10^-3, and its mean over the instances."""
    found = compare(results)
    normalised = normalise(found, rounded=rounded)
    rows = [
        (Cell(instance), *(cell(Spread(row[name]), digits=2) for name in found.solvers))
        for instance, row in normalised.rows.items()
    ]
    means = (cell(normalised.summary[name], digits=2) for name in found.solvers)
    return Sheet(
        key="normalised",
        title=NORMALISED.format(what="cost" if rounded else "length, not rounded,"),
        header=("instance", *found.solvers),
        blocks=(tuple(rows), ((Cell("mean (std.)"), *means),)),
        best_of="none",
    )


def as_text(results: Sequence[Result], *, rounded: bool) -> str:
    """Return both tables in plain text."""
    return "\n".join(map(formats.text, _both(results, rounded=rounded)))


def as_markdown(results: Sequence[Result], *, rounded: bool) -> str:
    """Return both tables in Markdown."""
    return "\n".join(map(formats.markdown, _both(results, rounded=rounded)))


def as_csv(results: Sequence[Result]) -> str:
    """Return a line per instance and checkpoint; empty where no best cost is known.

    The gap is a plain fraction; seconds are the time of a batch over the ``batch`` instances that
    were solved together in it.
    """
    rows = []
    for one in results:
        gap = _gap(to_best_known(one)).parts["fraction"]
        solved = (one.instance, one.size, number(one.best_known), one.solver, one.cost, gap)
        rows.append(words(*map(str, (*solved, one.length, one.batch, one.seconds))))
    return formats.as_csv(Sheet(key="all", title="", header=CSV, blocks=(tuple(rows),)))


def _both(results: Sequence[Result], *, rounded: bool) -> tuple[Sheet, Sheet]:
    return cost_table(results), normalised_table(results, rounded=rounded)


def number(value: float | None) -> str:
    """Return a cost as people write it; a dash for none."""
    return "-" if value is None else f"{value:.10g}"


def _gap(fraction: float | None) -> Cell:
    known = fraction is not None and not math.isnan(fraction)
    parts = {"fraction": f"{fraction:.6f}" if known else ""}
    return Cell(f"{fraction:.2%}" if known else "-", parts)
