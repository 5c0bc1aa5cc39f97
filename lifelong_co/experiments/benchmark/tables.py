"""The benchmark tables: cost and gap of each checkpoint, and the paper's normalised values."""

import csv
import io
from collections.abc import Sequence

from lifelong_co.experiments.benchmark.compared import compare, gap, mean_gap, normalise
from lifelong_co.experiments.benchmark.results import Result
from lifelong_co.experiments.comparison.tables import SCALE, Table, align, markdown

CSV = (
    *("instance", "n", "best_known", "checkpoint", "cost", "gap_fraction"),
    *("length", "batch", "seconds_per_instance"),
)
COSTS = "Cost in the files' rounded distances, and gap to the best known cost"
NORMALISED = (
    "Normalised as in the paper: (d - d*) / d* in 10^-3, "
    "d* the least {what} of these checkpoints; mean (standard deviation) over instances"
)


def cost_table(results: Sequence[Result]) -> Table:
    """Return a row per instance: size, best known cost, then cost and gap of each checkpoint."""
    found = compare(results)
    header = ["instance", "n", "best known"]
    table = [header + [f"{name} {what}" for name in found.solvers for what in ("cost", "gap")]]
    for instance, row in found.rows.items():
        first = row[found.solvers[0]]
        cells = [instance, str(first.size), number(first.best_known)]
        for name in found.solvers:
            cells += [str(row[name].cost), percent(gap(row[name]))]
        table.append(cells)
    means = [mean_gap(found, name) for name in found.solvers]
    table.append(["mean", "", "", *(cell for mean in means for cell in ("", percent(mean)))])
    return table


def normalised_table(results: Sequence[Result], *, rounded: bool) -> Table:
    """Return the paper's table: `compared.above` in 10^-3, and its mean over the instances."""
    found = compare(results)
    normalised = normalise(found, rounded=rounded)
    table = [["instance", *found.solvers]]
    for instance, row in normalised.rows.items():
        table.append([instance, *(f"{SCALE * row[name]:.2f}" for name in found.solvers)])
    means = (mean_and_deviation(*normalised.summary[name]) for name in found.solvers)
    table.append(["mean (std.)", *means])
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
    """Return a line per instance and checkpoint; empty where no best cost is known.

    The gap is a plain fraction; seconds are the time of a batch over the ``batch`` instances that
    were solved together in it.
    """
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(CSV)
    for one in results:
        fraction = gap(one)
        writer.writerow(
            [
                *(one.instance, one.size, "" if one.best_known is None else number(one.best_known)),
                *(one.solver, one.cost, "" if fraction is None else f"{fraction:.6f}"),
                *(one.length, one.batch, one.seconds),
            ]
        )
    return lines.getvalue()


def titled(results: Sequence[Result], *, rounded: bool) -> list[tuple[str, Table]]:
    """Return both tables, each after its title."""
    return [
        (COSTS, cost_table(results)),
        (normalised_title(rounded=rounded), normalised_table(results, rounded=rounded)),
    ]


def normalised_title(*, rounded: bool) -> str:
    """Return what the numbers of `normalised_table` are."""
    return NORMALISED.format(what="cost" if rounded else "length, not rounded,")


def number(value: float | None) -> str:
    """Return a cost as people write it; a dash for none."""
    return "-" if value is None else f"{value:.10g}"


def percent(fraction: float | None) -> str:
    """Return a gap in percent; a dash for none."""
    return "-" if fraction is None else f"{fraction:.2%}"


def mean_and_deviation(mean: float | None, deviation: float | None) -> str:
    """Return fractions as ``mean (std.)`` in 10^-3; a dash for none."""
    if mean is None:
        return "-"
    return f"{SCALE * mean:.2f}" + ("" if deviation is None else f" ({SCALE * deviation:.2f})")
