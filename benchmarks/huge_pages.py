"""How much faster a training step is when malloc takes huge pages, as the runs of sweeps do.

    python benchmarks/huge_pages.py [--problems cvrp tsp] [--sizes 20 50 100] [--turns 5]
        [--steps 10] [--json FILE]

Processes with and without take turns, because glibc reads the setting when a process starts. Each
takes the median of some steps of fine-tuning, preset `paper`, on one thread. The setting
does something where /sys/kernel/mm/transparent_hugepage/enabled is `madvise`.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import official
import ours
import torch
from measurement import about, store

from lifelong_co.experiments.sweep.engines import HUGE_PAGES

SETTINGS = {"without": {"GLIBC_TUNABLES": ""}, "with": HUGE_PAGES}


def step_time(problem: str, n: int, steps: int) -> float:
    """Return the median of the processor's seconds for a step, after two to warm up."""
    step = ours.training_step(problem, n, official.BATCH[n])
    took = []
    for _ in range(2 + steps):
        began = time.process_time()
        step()
        took.append(time.process_time() - began)
    return statistics.median(took[2:])


def in_a_process(problem: str, n: int, steps: int, setting: dict[str, str]) -> float:
    """Return `step_time` of a process with this setting."""
    command = [sys.executable, __file__, "--one", problem, str(n), "--steps", str(steps)]
    surroundings = {**os.environ, **setting}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=surroundings)
    return float(done.stdout)


def main() -> None:
    """Print the ratios, and write them as JSON if asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="+", choices=("cvrp", "tsp"), default=["cvrp", "tsp"])
    parser.add_argument(
        "--sizes", nargs="+", type=int, choices=official.BATCH, default=[20, 50, 100]
    )
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.one:
        problem, n = options.one
        print(step_time(problem, int(n), options.steps))
        return
    made, figures = about(), []
    for problem, n in product(options.problems, options.sizes):
        ratios = []
        for _ in range(options.turns):
            took = {
                name: in_a_process(problem, n, options.steps, setting)
                for name, setting in SETTINGS.items()
            }
            ratios.append(took["without"] / took["with"])
        median = statistics.median(ratios)
        print(f"{problem} {n}: {median:.2f} ({min(ratios):.2f} to {max(ratios):.2f})", flush=True)
        figures.append({"problem": problem, "n": n, "ratios": ratios, "median": median})
    store(options.json, made, figures)


if __name__ == "__main__":
    main()
