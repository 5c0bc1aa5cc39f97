"""Tables of the documentation that come from no study: the shipped weights, `improve.py`."""

import csv
from itertools import groupby
from pathlib import Path
from statistics import fmean

from lifelong_co_adapters import shipped

from lifelong_co.experiments.sheet import Sheet, words

IMPROVED = Path(__file__).parent / "results" / "improve.csv"


def weights() -> Sheet:
    """Return for each problem and size the shipped solver's cost over that of nearest neighbor."""
    rows = []
    for problem in shipped.problems():
        card = shipped.load(problem).card
        sizes = [task["size"] for task in card["tasks"]]
        tested = zip(sizes, card["tested"], strict=True)
        for size, each in groupby(sorted(tested, key=lambda pair: pair[0]), lambda pair: pair[0]):
            ratio = {test["task"]: test["cost"] / test["nearest_neighbor"] for _, test in each}
            worst = max(ratio, key=lambda name: ratio[name])
            shown = (f"{fmean(ratio.values()):.3f}", f"{ratio[worst]:.3f} ({worst})")
            rows.append(words(f"`{problem}`", str(size), *shown))
    header = ("problem", "nodes", "mean of six tests", "worst of them")
    return Sheet(key="weights", title="", header=header, blocks=(tuple(rows),))


def improved() -> Sheet:
    """Return the costs of `improve.py`, with the gap to the best known cost."""
    rows, seconds = [], ""
    with IMPROVED.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            best, seconds = float(line["best_known"]), f"{float(line['seconds']):g} s"
            costs = [line[name] for name in ("solver", "nearest_neighbor", "from_solver", "alone")]
            shown = [f"{float(cost):.10g} ({float(cost) / best - 1:.1%})" for cost in costs]
            rows.append(words(line["instance"], f"{best:.10g}", *shown))
    solvers = ("shipped solver", "nearest neighbor", f"PyVRP from it, {seconds}", "PyVRP alone")
    header = ("file", "best known", *solvers)
    return Sheet(key="improved", title="", header=header, blocks=(tuple(rows),))
