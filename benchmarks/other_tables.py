"""Tables of the documentation that come from no study.

They are of the shipped weights, of `improve.py`, `libraries.py`, `teaching.py`, `ranking.py` and
`repeat.py`.
"""

import csv
from collections import Counter
from itertools import groupby
from statistics import fmean, stdev

import improve
import libraries
import ranking
import repeat
import study
import teaching
from lifelong_co_adapters import shipped
from row_values import commits, in_short
from speed_tables import sheet

from lifelong_co.experiments.references.gaps import gap
from lifelong_co.experiments.sheet import SCALE, Sheet, words
from lifelong_co.experiments.spread import half_width
from lifelong_co.metrics import NAMES

FEW_NODES = 200


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
    return sheet("weights", header, rows)


def improved() -> Sheet:
    """Return the costs of `improve.py`, with the gap to the best known cost."""
    rows, seconds = [], ""
    with improve.STORED.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            best, seconds = float(line["best_known"]), f"{float(line['seconds']):g} s"
            costs = [line[name] for name in ("solver", "nearest_neighbor", "from_solver", "alone")]
            shown = [f"{float(cost):.10g} ({gap(float(cost), best):.1%})" for cost in costs]
            rows.append(words(line["instance"], f"{best:.10g}", *shown))
    solvers = ("shipped solver", "nearest neighbor", f"PyVRP from it, {seconds}", "PyVRP alone")
    header = ("file", "best known", *solvers)
    return sheet("improved", header, rows)


def on_libraries() -> Sheet:
    """Return the mean gaps of `libraries.py` to the best known costs, and the paper's values.

    Those are gaps of lengths that are not rounded to the best of the solvers.
    """
    found = list(libraries.read().values())
    lengths: dict[str, list[float]] = {}
    for line in found:
        if line["length"]:
            lengths.setdefault(line["instance"], []).append(float(line["length"]))
    rows = []
    for solver in dict.fromkeys(line["solver"] for line in found):
        own = [line for line in found if line["solver"] == solver]
        shown = []
        for library in libraries.LIBRARIES:
            lines = [line for line in own if line["library"] == library]
            for some in ([one for one in lines if int(one["n"]) <= FEW_NODES], lines):
                gaps = [gap(float(one["cost"]), float(one["best_known"])) for one in some]
                shown.append(f"{fmean(gaps):.1%}")
            learned = [one for one in lines if one["length"]]
            above = [gap(float(one["length"]), min(lengths[one["instance"]])) for one in learned]
            shown.append(
                f"{SCALE * fmean(above):.0f} ({SCALE * stdev(above):.0f})" if above else "-"
            )
        rows.append(words(solver, *shown))
    header = [""]
    for library in libraries.LIBRARIES:
        name = library.upper()
        sizes = {line["instance"]: int(line["n"]) for line in found if line["library"] == library}
        few = sum(size <= FEW_NODES for size in sizes.values())
        header += [f"{name}, the {few} up to {FEW_NODES} nodes", f"{name}, all {len(sizes)}"]
        header.append(f"{name}, normalised")
    commits = {line["commit"][:7] for line in found if line["commit"]}
    return sheet("libraries", header, rows, in_short(commits))


def taught() -> Sheet:
    """Return the cost of POMO on G20, which it knows at most from a buffer (`teaching.py`)."""
    costs: dict[tuple[str, str], list[float]] = {}
    for lines in teaching.read().values():
        (cost,) = (
            float(one["cost"])
            for one in lines
            if (one["learning"], one["epoch"], one["tested"]) == ("R10", "5", "G20")
        )
        costs.setdefault((lines[0]["method"], lines[0]["problem"]), []).append(cost)
    for problem in teaching.PROBLEMS:
        each = (costs[method, problem] for method in (teaching.TAUGHT, teaching.ALONE))
        costs["difference", problem] = [one - other for one, other in zip(*each, strict=True)]
    names = {
        teaching.ALONE: "without a buffer",
        teaching.TAUGHT: "with Omni's buffer",
        "difference": "difference, paired by seed",
    }
    rows = []
    for method, name in names.items():
        shown = (costs[method, problem] for problem in teaching.PROBLEMS)
        rows.append(words(name, *(f"{fmean(of):.3f} ± {half_width(of):.3f}" for of in shown)))
    header = ("cost on G20", *(f"`{problem}`" for problem in teaching.PROBLEMS))
    commits = {line["commit"][:7] for lines in teaching.read().values() for line in lines}
    return sheet("taught", header, rows, in_short(commits))


def ranked() -> Sheet:
    """Return how many pairs of methods rank as in the paper (`ranking.py`), by problem."""
    rows = []
    results = study.Study.named(ranking.NAME).results()
    for problem, found in ranking.compared(results, ranking.ORDER).items():
        shown = (f"{asked - len(broken)} of {asked}" for asked, broken in found.values())
        rows.append(words(f"`{problem}`", *shown))
    header = ("pairs ranked as in the paper", *NAMES)
    runs = (run for of in ranking.named(results).values() for run in of.values())
    of_order = (run for run in runs if run.config.order == ranking.ORDER)
    return sheet("ranked", header, rows, commits(of_order))


def repeated() -> Sheet:
    """Return for each study how many stored runs gave the same bits again (`repeat.py`)."""
    found = repeat.read()
    rows = []
    for name in dict.fromkeys(line["study"] for line in found):
        own = [line for line in found if line["study"] == name]
        makers = {commit for line in own for commit in line["commit"].split()}
        others = Counter(line["method"] for line in own if line["equal"] != line["tests"])
        labels = [f"{count} of `{method}`" for method, count in others.items()]
        of = study.Study.named(name)
        asked = {*repeat.chosen(of), *(line["run"] for line in own)}
        stored = of.lines()
        whole = [line for line in own if int(line["tests"]) == len(stored.get(line["run"], ()))]
        counts = (f"{len(own)} of {len(asked)}", str(len(whole)), str(len(own) - others.total()))
        rows.append(words(f"`{name}.toml`", str(len(makers)), *counts, ", ".join(labels) or "-"))
    ends = ("runs repeated", "whole", "with the same bits", "with other costs")
    same = sum(line["equal"] == line["tests"] for line in found)
    later = in_short({line["today"][:7] for line in found})
    note = (
        f"{same} of these {len(found)} runs have the same bits. Repeated with later code. {later}"
    )
    header = ("study", "commits", *ends)
    return sheet("repeated", header, rows, note)
