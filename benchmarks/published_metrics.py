"""Shows from the paper's own tables how its AF, AMF and standard deviations were computed.

``python benchmarks/published_metrics.py`` reads ``paper_orders.csv`` (the paper's appendix, tables
"Metric values on each order", 10⁻³) and ``paper_table1.csv``. It counts two things that the
formulas of §4 forbid, because AF and AMF leave out the last task:

- At k = 3 the forgetting of task 1 is taken after task 2 only, and that of task 2 never. One term
  is left, so that AF = AMF in every row. By the formulas they differ unless nothing is relearned.
- By the formulas AF >= k / (k - 1) (AP - APl): a mean of max(0, x) is at least the mean of x, and
  the last task adds nothing to AP - APl.

A bound shows that AP at k = 3 was measured after learning all six tasks, not after three. Restart
begins each task with fresh parameters, so that its solver of a task is the same in every order. Let
g(X, Y) be the gap on Y of the solver of X. By the text, 3 AP in order 1 (E, C, G) is g(G, E) +
g(G, C) + g(G, G). Order 3 (E, G, R) gives g(G, E) <= 2 AF + g(E, E), order 5 (G, C, R) gives
g(G, C) <= 2 AG, and order 1 gives g(E, E) + g(G, G) <= 3 APl.

The script also compares the standard deviations of table 1 with those of the five orders: they are
the population deviation (divided by n), not the sample deviation (divided by n - 1).
"""

import csv
import statistics
from collections.abc import Iterable, Mapping
from pathlib import Path

TABLE = Path(__file__).with_name("paper_orders.csv")
TABLE1 = Path(__file__).with_name("paper_table1.csv")
METRICS = ("AP", "AF", "AMF", "APl", "AG")
# A printed number is rounded to 0.1, so it is at most this far from the computed one.
ROUNDING = 0.05


def least_forgetting(row: Mapping[str, str]) -> float:
    """Return the least AF (10⁻³) that the formulas allow a row, rounding in its favor."""
    k = int(row["k"])
    return k / (k - 1) * (float(row["AP"]) - float(row["APl"]) - 2 * ROUNDING) - ROUNDING


def proof(rows: Iterable[Mapping[str, str]]) -> list[str]:
    """Return the lines that the script prints."""
    rows = list(rows)
    short = [row for row in rows if row["k"] == "3"]
    long = [row for row in rows if row["k"] == "6"]
    equal = [row for row in short if row["AF"] == row["AMF"]]
    impossible = [row for row in long if float(row["AF"]) < least_forgetting(row)]
    lines = [
        f"k = 3: AF equals AMF in {len(equal)} of {len(short)} rows",
        f"k = 6: AF is below k / (k - 1) (AP - APl) in {len(impossible)} of {len(long)} rows:",
    ]
    for row in impossible:
        lines.append(
            f"  {row['problem']} order {row['order']} {row['method']:11} "
            f"AF {float(row['AF']):5.1f}, at least {least_forgetting(row):5.1f}"
        )
    return lines


def restart(rows: Iterable[Mapping[str, str]]) -> str:
    """Return AP of Restart after three tasks (CVRP, order 1), and the most that the text allows."""
    found = {
        row["order"]: {name: float(row[name]) for name in METRICS}
        for row in rows
        if (row["problem"], row["method"], row["k"]) == ("cvrp", "restart", "3")
    }
    summed = ((2, found["3"]["AF"]), (2, found["5"]["AG"]), (3, found["1"]["APl"]))
    most = sum(times * (value + ROUNDING) for times, value in summed) / 3
    return (
        f"k = 3: AP of Restart in order 1 of the CVRP is {found['1']['AP']:.1f}, after task 3 it is"
        f" at most {most:.1f}"
    )


def deviations(orders: Iterable[Mapping[str, str]], table1: Iterable[Mapping[str, str]]) -> str:
    """Return how many deviations of table 1 are the population's, and how many the sample's."""
    whole = [row for row in orders if row["k"] == "6"]
    fits = {statistics.pstdev: 0, statistics.stdev: 0}
    cells = 0
    for row in table1:
        theirs = [each for each in whole if (each["problem"], each["method"]) == _place(row)]
        for name in METRICS:
            if not row[f"{name}_std"]:
                continue  # Restart's APl, which has none
            cells += 1
            for deviation in fits:
                found = deviation([float(each[name]) for each in theirs])
                # Both the values and the printed deviation are rounded.
                fits[deviation] += abs(found - float(row[f"{name}_std"])) <= 2 * ROUNDING + 1e-9
    population, sample = fits.values()
    return (
        f"table 1: the deviation over the five orders is the population's in {population} of"
        f" {cells} cells, the sample's in {sample}"
    )


def _place(row: Mapping[str, str]) -> tuple[str, str]:
    return row["problem"], row["method"]


def read(table: Path) -> list[dict[str, str]]:
    """Return the rows of a table."""
    with table.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    print("\n".join(proof(read(TABLE))))
    print(restart(read(TABLE)))
    print(deviations(read(TABLE), read(TABLE1)))
