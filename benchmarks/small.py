"""The results table of the README: preset `small`, order 1, three methods, three seeds.

    python benchmarks/small.py [--workers 2] [--runs DIR] [--results DIR]

It does only the runs whose results are missing; the results are committed.
"""

import argparse
from itertools import product
from pathlib import Path

from grid import Grid

METHODS = {
    "fine-tuning": [],
    "llr-bc": [],
    "restart": [],
    # The alternatives from which the default was chosen.
    "llr-bc-official": ["--behavior", "official", "--alpha", "100"],
    "llr-bc-probabilities-1": ["--behavior", "probabilities", "--alpha", "1"],
}
CELLS = [
    *product(("cvrp", "tsp"), ("fine-tuning", "llr-bc", "restart"), (0, 1, 2)),
    *product(("cvrp", "tsp"), ("llr-bc-official", "llr-bc-probabilities-1"), (0,)),
]


def job(problem: str, method: str, seed: int) -> tuple[str, list[str]]:
    """Return the name of a run and the arguments for `lifelong-co run`."""
    plain = "llr-bc" if method.startswith("llr-bc") else method
    arguments = ["--problem", problem, "--method", plain, "--preset", "small", "--order", "1"]
    return f"{problem}-{method}-{seed}", [*arguments, "--seed", str(seed), *METHODS[method]]


def main() -> None:
    """Do the missing runs and print one table for each problem."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=Path, default=Path("runs/small"))
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results/small"))
    options = parser.parse_args()
    grid = Grid(options.runs, options.results)
    jobs = [job(*cell) for cell in CELLS]
    grid.complete_all(jobs, options.workers)
    for problem in ("cvrp", "tsp"):
        grid.compare(name for name, _ in jobs if name.startswith(problem))


if __name__ == "__main__":
    main()
