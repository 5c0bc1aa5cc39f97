"""A test of whether one variant learns worse than another: paired by seed, with the same d*.

    python benchmarks/paired.py RESULTS NAME OTHER [--problem cvrp] [--order 1]

It compares runs of a sweep with the same seeds. NAME and OTHER are parts of the names of their
folders, e.g. ``llr-bc`` and ``four_whole_units``. For AP, AF and APl it prints both means, the mean
difference (NAME minus OTHER) with the 95 % interval of Student's t over the pairs, and the
one-sided p-value: the probability of at least this difference if there is none. A small p-value
means that NAME is worse.
"""

import argparse
import re
import statistics
from pathlib import Path

from scipy import stats

from lifelong_co.experiments.comparison.comparison import compare_folders
from lifelong_co.experiments.comparison.runs import Run
from lifelong_co.experiments.spread import half_width

METRICS = ("AP", "AF", "APl")


def seeds_of(folder: Path, problem: str, name: str, order: int) -> dict[str, Path]:
    """Return the runs of a name by seed.

    Raises
    ------
    SystemExit
        If there is no run, or if two runs have the same seed.
    """
    found: dict[str, Path] = {}
    pattern = rf"{problem}-[^-]+-{re.escape(name)}-[^-]+-(?:own|order{order})-seed(\d+)(-\w+)?"
    for run in sorted(folder.glob("runs/*")):
        match = re.fullmatch(pattern, run.name)
        if match and match[1] in found:
            raise SystemExit(f"expected one run for each seed, got {found[match[1]]} and {run}")
        if match:
            found[match[1]] = run
    if not found:
        raise SystemExit(f"{folder}: no runs of {name!r} on {problem}, order {order}")
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("name")
    parser.add_argument("other")
    parser.add_argument("--problem", default="cvrp")
    parser.add_argument("--order", type=int, default=1)
    options = parser.parse_args()
    names = (options.name, options.other)
    folders = [seeds_of(options.results, options.problem, name, options.order) for name in names]
    seeds = sorted(folders[0].keys() & folders[1].keys())
    everything = [folder[seed] for folder in folders for seed in seeds]
    comparison = compare_folders(everything)
    runs: dict[Path, Run] = {run.path: run for run in comparison.runs}
    print(f"{len(seeds)} seeds; 10^-3; difference: {names[0]} minus {names[1]}")
    print(f"{'':4} {names[0]:>18} {names[1]:>18}  difference         p")
    for metric in METRICS:
        ours, others = (
            [1e3 * getattr(comparison.metrics(runs[folder[seed]]), metric) for seed in seeds]
            for folder in folders
        )
        differences = [one - other for one, other in zip(ours, others, strict=True)]
        half = half_width(differences) or float("nan")
        p = stats.ttest_rel(ours, others, alternative="greater").pvalue
        print(
            f"{metric:4} {statistics.fmean(ours):18.2f} {statistics.fmean(others):18.2f}"
            f"  {statistics.fmean(differences):5.2f} ± {half:4.2f}  {p:8.3f}"
        )


if __name__ == "__main__":
    main()
