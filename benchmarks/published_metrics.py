"""Shows from the paper's own tables how its AF, AMF and standard deviations were computed.

``python benchmarks/published_metrics.py`` reads ``paper_orders.csv`` (the paper's appendix, tables
"Metric values on each order", 10⁻³) and ``paper_table1.csv``. It counts two things that the
formulas of §4 forbid, because AF and AMF leave out the last task:

- At k = 3 the forgetting of task 1 is taken after task 2 only, and that of task 2 never. One term
  is left, so that AF = AMF in every row. By the formulas they differ unless nothing is relearned.
- By the formulas AF >= k / (k - 1) (AP - APl): a mean of max(0, x) is at least the mean of x, and
  the last task adds nothing to AP - APl.

And it compares the standard deviations of table 1 with those of the five orders: they are the
population deviation (divided by n), not the sample deviation (divided by n - 1).
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


def deviations(orders: Iterable[Mapping[str, str]], table1: Iterable[Mapping[str, str]]) -> str:
    """Return how many deviations of table 1 are the population's, and how many the sample's."""
    whole = [row for row in orders if row["k"] == "6"]
    fits = {statistics.pstdev: 0, statistics.stdev: 0}
    cells = 0
    for row in table1:
        theirs = [each for each in whole if (each["problem"], each["method"]) == _place(row)]
        for name in METRICS:
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
    print(deviations(read(TABLE), read(TABLE1)))
