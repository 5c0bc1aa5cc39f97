"""The benchmark tables: cost and gap of each checkpoint, and the paper's normalised values."""

import csv
import io
import statistics
from collections.abc import Callable, Sequence

from lifelong_co.benchmarking.results import Result
from lifelong_co.report.tables import SCALE, Table, align, markdown

COSTS = "Cost in the files' rounded distances, and gap to the best known cost"
NORMALISED = (
    "Normalised as in the paper: (d - d*) / d* in 10^-3, "
    "d* the least {what} of these checkpoints; mean (standard deviation) over instances"
)


def cost_table(results: Sequence[Result]) -> Table:
    """Return a row per instance: size, best known cost, then cost and gap of each checkpoint."""
    solvers, by_instance = _arranged(results)
    header = ["instance", "n", "best known"]
    table = [header + [cell for name in solvers for cell in (name, "gap")]]
    gaps: dict[str, list[float]] = {name: [] for name in solvers}
    for instance, row in by_instance.items():
        first = next(iter(row.values()))
        cells = [instance, str(first.size), _number(first.best_known)]
        for name in solvers:
            gap = row[name].cost / first.best_known - 1 if first.best_known else None
            if gap is not None:
                gaps[name].append(gap)
            cells += [str(row[name].cost), "-" if gap is None else f"{gap:.2%}"]
        table.append(cells)
    means = [f"{statistics.fmean(gaps[name]):.2%}" if gaps[name] else "-" for name in solvers]
    table.append(["mean", "", "", *(cell for mean in means for cell in ("", mean))])
    return table


def normalised_table(results: Sequence[Result], *, rounded: bool) -> Table:
    """Return the paper's table: distance above the best of the checkpoints, in 10^-3.

    Parameters
    ----------
    rounded
        By the files' rounded distances; else as the official code measures, without rounding.
    """
    solvers, by_instance = _arranged(results)
    measure: Callable[[Result], float] = (lambda r: r.cost) if rounded else (lambda r: r.length)
    table = [["instance", *solvers]]
    columns: dict[str, list[float]] = {name: [] for name in solvers}
    for instance, row in by_instance.items():
        least = min(measure(row[name]) for name in solvers)
        values = [SCALE * (measure(row[name]) / least - 1) if least else 0.0 for name in solvers]
        for name, value in zip(solvers, values, strict=True):
            columns[name].append(value)
        table.append([instance, *(f"{value:.2f}" for value in values)])
    table.append(["mean (std.)", *(_spread(columns[name]) for name in solvers)])
    return table


def as_text(results: Sequence[Result], *, rounded: bool) -> str:
    """Return both tables in plain text."""
    first, second = titled(results, rounded=rounded)
    return (
        "\n\n".join(f"{title}\n\n{align(rows, left=1)}" for title, rows in (first, second)) + "\n"
    )


def as_markdown(results: Sequence[Result], *, rounded: bool) -> str:
    """Return both tables in Markdown."""
    parts = (f"{title}\n\n{markdown(rows)}" for title, rows in titled(results, rounded=rounded))
    return "\n\n".join(parts) + "\n"


def as_csv(results: Sequence[Result]) -> str:
    """Return a line per instance and checkpoint; empty where no best cost is known."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(
        ["instance", "n", "best_known", "checkpoint", "cost", "gap", "length", "seconds"]
    )
    for one in results:
        gap = f"{one.cost / one.best_known - 1:.6f}" if one.best_known else ""
        known = "" if one.best_known is None else f"{one.best_known:.10g}"
        writer.writerow(
            [one.instance, one.size, known, one.solver, one.cost, gap, one.length, one.seconds]
        )
    return lines.getvalue()


def titled(results: Sequence[Result], *, rounded: bool) -> list[tuple[str, Table]]:
    """Return both tables, each after its title."""
    what = "cost" if rounded else "length, not rounded,"
    return [
        (COSTS, cost_table(results)),
        (NORMALISED.format(what=what), normalised_table(results, rounded=rounded)),
    ]


def _arranged(results: Sequence[Result]) -> tuple[list[str], dict[str, dict[str, Result]]]:
    """Return the checkpoints, and the instances that all of them have solved."""
    solvers = list(dict.fromkeys(one.solver for one in results))
    rows: dict[str, dict[str, Result]] = {}
    for one in results:
        rows.setdefault(one.instance, {})[one.solver] = one
    return solvers, {name: row for name, row in rows.items() if len(row) == len(solvers)}


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.10g}"


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "-"
    deviation = f" ({statistics.stdev(values):.2f})" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.2f}{deviation}"
