"""Shows from the paper's own tables that its AF and AMF leave out the last task.

``python benchmarks/published_metrics.py`` reads ``paper_orders.csv`` (the paper's appendix, tables
"Metric values on each order", 10⁻³) and counts two things that the formulas of §4 forbid:

- At k = 3 the forgetting of task 1 is taken after task 2 only, and that of task 2 never. One term
  is left, so that AF = AMF in every row. By the formulas they differ unless nothing is relearned.
- By the formulas AF >= k / (k - 1) (AP - APl): a mean of max(0, x) is at least the mean of x, and
  the last task adds nothing to AP - APl.
"""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

TABLE = Path(__file__).with_name("paper_orders.csv")
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


if __name__ == "__main__":
    with TABLE.open(newline="", encoding="utf-8") as file:
        print("\n".join(proof(csv.DictReader(file))))
