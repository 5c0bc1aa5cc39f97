"""A comparison of the ranking of methods with the paper, where the paper's differences are clear.

    python benchmarks/ranking.py [NAME] [--order 1]

For each problem and metric it takes pairs of methods from the paper's table 1
(``paper_table1.csv``, over five orders). A pair counts if its means differ by more than the root of
the sum of the squared standard deviations. The question is whether the better method of the pair is
also better here. NAME is a study, by default ``methods``; the means here are over the seeds of one
order. Metrics and d* are computed as those of the printed table
(definition ``published``): forgetting ends before the last task, and d* is over every test.
"""

import argparse
import csv
import itertools
import math
import statistics
from pathlib import Path

import study

from lifelong_co.experiments.comparison.runs import FinishedRun
from lifelong_co.experiments.paper.studies import Study, chapters
from lifelong_co.experiments.sweep.table import Results
from lifelong_co.metrics import NAMES

HERE = Path(__file__).parent
NAME, ORDER = "methods", "1"
"""The study and the order of the table in docs/results/former_rate.md."""

Means = dict[str, dict[str, float]]
"""Metric by method, in 10^-3."""
Runs = dict[str, dict[str, FinishedRun]]
"""The runs of a method by their name."""


def papers(problem: str) -> tuple[Means, Means]:
    """Return the paper's means and standard deviations."""
    with (HERE / "paper_table1.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["problem"] == problem]
    means = {row["method"]: {name: float(row[name]) for name in NAMES} for row in rows}
    spreads = {  # APl of Restart has none
        row["method"]: {name: float(row[f"{name}_std"] or 0) for name in NAMES} for row in rows
    }
    return means, spreads


def named(found: Results) -> Runs:
    """Return by method the runs of the rows that have its name, whatever the preset has today."""
    runs: Runs = {}
    for row in (row for block in found.plan.blocks for row in block.rows):
        for _, _, name in row.cells:
            if name in found.runs and found.runs[name].config.method == row.label:
                runs.setdefault(row.label, {})[name] = found.runs[name]
    return runs


def ours(study: Study, runs: Runs, problem: str, order: str) -> Means:
    """Return the means over the seeds of an order, for methods that learn task after task."""
    means = {}
    for method, every in runs.items():
        wanted = problem, order
        of_order = [r for r in every.values() if (r.config.problem, r.config.order) == wanted]
        values = [study.metrics(run) for run in of_order if not run.knows_all_tasks]
        if values:
            means[method] = {
                name: 1e3 * statistics.fmean(getattr(value, name) for value in values)
                for name in NAMES
            }
    return means


def compare(problem: str, here: Means) -> dict[str, tuple[int, list[str]]]:
    """Return for each metric the number of clear pairs, and those that are ranked differently."""
    means, spreads = papers(problem)
    methods = [method for method in means if method in here]
    found: dict[str, tuple[int, list[str]]] = {}
    for name in NAMES:
        asked, broken = 0, []
        for pair in itertools.combinations(methods, 2):
            better, worse = sorted(pair, key=lambda method: means[method][name])
            margin = means[worse][name] - means[better][name]
            if margin <= math.hypot(spreads[worse][name], spreads[better][name]):
                continue
            asked += 1
            if here[better][name] >= here[worse][name]:
                broken.append(
                    f"{better} < {worse} there ({means[better][name]:.1f}, "
                    f"{means[worse][name]:.1f}), here {here[better][name]:.1f}, "
                    f"{here[worse][name]:.1f}"
                )
        found[name] = asked, broken
    return found


def compared(found: Results, order: str) -> dict[str, dict[str, tuple[int, list[str]]]]:
    """Return the comparison of each problem."""
    runs = named(found)
    return {
        problem: compare(problem, ours(each, runs, problem, order))
        for chapter in chapters(list(found.runs.values()), "published")
        for problem, each in chapter.of("pomo").items()
    }


def main() -> None:
    """Read the runs and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", default=NAME)
    parser.add_argument("--order", default=ORDER)
    options = parser.parse_args()
    results = study.Study.named(options.name).results()
    for problem, found in compared(results, options.order).items():
        print(problem)
        for name, (asked, broken) in found.items():
            print(f"  {name:4} {asked - len(broken)} of {asked}")
            print("".join(f"         {line}\n" for line in broken), end="")


if __name__ == "__main__":
    main()
