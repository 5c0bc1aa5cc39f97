"""The results table of the README: preset `small`, order 1, three methods, three seeds.

    python benchmarks/small.py [--workers 2] [--runs DIR] [--results DIR]

Runs what is not there yet, as many at once as there are workers, each on one thread; a run that
was interrupted is resumed. What is small and final of each run (configuration, costs, log) is
copied to the results, which are committed; `lifelong-co compare` reads them as run folders.
"""

import argparse
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

KEPT = ("config.toml", "costs.csv", "metrics.json", "log.jsonl")
METHODS = {
    "fine-tuning": [],
    "llr-bc": [],
    "restart": [],
    # What the default was chosen from.
    "llr-bc-official": ["--behavior", "official", "--alpha", "100"],
    "llr-bc-probabilities-1": ["--behavior", "probabilities", "--alpha", "1"],
}
GRID = [
    *product(("cvrp", "tsp"), ("fine-tuning", "llr-bc", "restart"), (0, 1, 2)),
    *product(("cvrp", "tsp"), ("llr-bc-official", "llr-bc-probabilities-1"), (0,)),
]


def complete(problem: str, method: str, seed: int, runs: Path, results: Path) -> None:
    """Do one run of the grid unless its results are there."""
    name = f"{problem}-{method}-{seed}"
    kept = results / name
    if kept.exists():
        return
    folder = runs / name
    command = [sys.executable, "-m", "lifelong_co_cli.main", "run"]
    if (folder / "config.toml").exists():
        command += ["--resume", str(folder)]
    else:
        plain = "llr-bc" if method.startswith("llr-bc") else method
        command += ["--problem", problem, "--method", plain]
        command += ["--preset", "small", "--order", "1", "--seed", str(seed), "--device", "cpu"]
        command += ["--out", str(folder), *METHODS[method]]
    print(*command[2:], flush=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    fresh = folder / "kept"
    fresh.mkdir(exist_ok=True)
    for file in KEPT:
        shutil.copy(folder / file, fresh / file)
    results.mkdir(parents=True, exist_ok=True)
    shutil.move(fresh, kept)


def main() -> None:
    """Complete the grid and print one table per problem."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=Path, default=Path("runs/small"))
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results/small"))
    options = parser.parse_args()
    with ThreadPoolExecutor(options.workers) as pool:
        jobs = [pool.submit(complete, *cell, options.runs, options.results) for cell in GRID]
        for job in jobs:
            job.result()
    for problem in ("cvrp", "tsp"):
        folders = [str(options.results / f"{p}-{m}-{s}") for p, m, s in GRID if p == problem]
        compare = [sys.executable, "-m", "lifelong_co_cli.main", "compare", *folders]
        subprocess.run(compare, check=True)


if __name__ == "__main__":
    main()
