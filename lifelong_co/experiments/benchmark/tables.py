"""The tables of a benchmark: cost and gap of each checkpoint, and the paper's normalised values."""

import math
from collections.abc import Mapping, Sequence

import attrs

from lifelong_co.experiments import formats
from lifelong_co.experiments.benchmark.results import Result
from lifelong_co.experiments.references.gaps import gap
from lifelong_co.experiments.sheet import Cell, Row, Sheet, words
from lifelong_co.experiments.spread import Spread, cell, spread

CSV = (
    *("instance", "n", "best_known", "checkpoint", "cost", "gap_fraction"),
    *("length", "batch", "seconds_per_instance", "nearest_neighbor"),
)
COSTS = "Cost in the distances of the files, and gap to the best known cost"
NORMALISED = (
    "Normalised as in the paper: (d - d*) / d* in 10^-3, where d* is the lowest {what} of these"
    " checkpoints; last row: mean (sample standard deviation) over instances"
)


def cost_table(results: Sequence[Result]) -> Sheet:
    """Return a row per instance: size, best known cost, then cost and gap of each checkpoint.

    The nearest-neighbor rule comes before the checkpoints, unless an older version made the
    results. The seconds are those of one instance.
    """
    found = _solved_by_all(results)
    solvers = _solvers(results)
    simple = all(one.nearest_neighbor is not None for one in results)
    rows: list[Row] = []
    for instance, row in found.items():
        first = row[solvers[0]]
        cells = words(instance, str(first.size), number(first.best_known))
        if simple:
            cells += (Cell(number(first.nearest_neighbor)), _percent(_of_rule(first)))
        for name in solvers:
            one = row[name]
            cells += (Cell(number(one.cost)), _percent(to_best_known(one)))
            cells += words(f"{one.seconds:.1f}")
        rows.append(cells)
    last = words("mean", "", "")
    if simple:
        mean = spread(_of_rule(row[solvers[0]]) for row in found.values()).mean
        last += (Cell(""), _percent(mean))
    for name in solvers:
        mean = spread(to_best_known(row[name]) for row in found.values()).mean
        last += (Cell(""), _percent(mean), Cell(""))
    return Sheet(
        key="costs",
        title=COSTS,
        header=(
            *("instance", "n", "best known"),
            *(("cost", "gap") if simple else ()),
            *("cost", "gap", "s") * len(solvers),
        ),
        spans=(
            ("", 3),
            *((("nearest neighbor", 2),) if simple else ()),
            *((name, 3) for name in solvers),
        ),
        blocks=(tuple(rows), (last,)),
        best_of="none",
    )


def normalised_table(results: Sequence[Result], *, rounded: bool) -> Sheet:
    """Return the paper's table: the gap of each checkpoint to the best of them, in 10^-3.

    Parameters
    ----------
    results
        The table has only the instances that every checkpoint has solved.
    rounded
        Whether lengths use the rounded distances of the file; else they are not rounded, as in
        the official code.
    """
    found = {name: _above(row, rounded=rounded) for name, row in _solved_by_all(results).items()}
    solvers = _solvers(results)
    rows = [
        (Cell(instance), *(cell(Spread(row[name]), digits=2) for name in solvers))
        for instance, row in found.items()
    ]
    means = (cell(spread(row[name] for row in found.values()), digits=2) for name in solvers)
    return Sheet(
        key="normalised",
        title=NORMALISED.format(what="cost" if rounded else "length, not rounded,"),
        header=("instance", *solvers),
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
    """Return a line per instance and checkpoint; the gap is empty if no best cost is known.

    The gap is a plain fraction. The seconds are the time of a batch divided by the number
    ``batch`` of instances in it.
    """
    rows = []
    for one in results:
        gap = _percent(to_best_known(one)).parts["fraction"]
        solved = (one.instance, one.size, number(one.best_known), one.solver, number(one.cost), gap)
        told = (one.length, one.batch, one.seconds, number(one.nearest_neighbor))
        rows.append(words(*map(str, (*solved, *told))))
    return formats.as_csv(Sheet(key="all", title="", header=CSV, blocks=(tuple(rows),)))


def _both(results: Sequence[Result], *, rounded: bool) -> tuple[Sheet, Sheet]:
    return cost_table(results), normalised_table(results, rounded=rounded)


def number(value: float | None) -> str:
    """Return a cost as text; a dash for None."""
    return "-" if value is None else f"{value:.10g}"


def _percent(fraction: float | None) -> Cell:
    known = fraction is not None and not math.isnan(fraction)
    parts = {"fraction": f"{fraction:.6f}" if known else ""}
    return Cell(f"{fraction:.2%}" if known else "-", parts)


def to_best_known(one: Result) -> float | None:
    """Return the gap to the best known cost as a plain fraction; None if no cost is known."""
    return gap(one.cost, one.best_known) if one.best_known else None


def _of_rule(one: Result) -> float | None:
    """Return the gap of the nearest-neighbor rule; None if it or the best cost is not known."""
    if one.nearest_neighbor is None or not one.best_known:
        return None
    return gap(one.nearest_neighbor, one.best_known)


def _solvers(results: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys(one.solver for one in results))


def _solved_by_all(results: Sequence[Result]) -> dict[str, dict[str, Result]]:
    """Return results by instance and solver, only of instances that every solver has solved.

    All results of an instance get the same best known cost: they may have been stored with
    different ones, at different times.
    """
    rows: dict[str, dict[str, Result]] = {}
    for one in results:
        rows.setdefault(one.instance, {})[one.solver] = one
    whole = {name: row for name, row in rows.items() if len(row) == len(_solvers(results))}
    for row in whole.values():
        known = (one.best_known for one in row.values() if one.best_known is not None)
        least = min(known, default=None)
        row.update({name: attrs.evolve(one, best_known=least) for name, one in row.items()})
    return whole


def _above(row: Mapping[str, Result], *, rounded: bool) -> dict[str, float]:
    values = {name: one.cost if rounded else one.length for name, one in row.items()}
    least = min(values.values())
    return {name: gap(value, least) if least else 0.0 for name, value in values.items()}
