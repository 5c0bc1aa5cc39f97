"""A buffer teaches another solver: a new POMO learns R10, with the buffer of an Omni or without.

    python benchmarks/teaching.py [--runs runs/teaching]

The Omni learns G20 and then R10 by llr-bc, from its start in solvers.toml; POMO sees G20 only in
its buffer. What counts is the cost on G20 after POMO has learned R10. A run whose tests are in
results/teaching.csv is not done again.
"""

import argparse
from pathlib import Path
from typing import Any

import tidy
import torch

import lifelong_co as lco
from lifelong_co.storage.files import write_whole

HERE = Path(__file__).parent
STORED = HERE / "results" / "teaching.csv"
TASKS = (
    lco.Task(distribution="R", size=10, epochs=5, batches=40, batch_size=64),
    lco.Task(distribution="G", size=20, epochs=1, batches=1, batch_size=2),  # for its test
)
PROBLEMS, SEEDS = ("cvrp", "tsp"), range(3)
ALONE, TAUGHT = "fine-tuning", "llr-bc"


def learn(out: Path, problem: str, method: str, seed: int, **given: Any) -> Path:
    """Return the folder of a run, which is done or resumed if it is not complete."""
    if out.exists():
        return lco.resume(out).folder
    rate = {"schedule": "linear", "learning_rate": 3e-4}
    given = {"method": method, "preset": "small", "seed": seed, "device": "cpu", **rate, **given}
    return lco.learn(problem=problem, out=out, **given).folder


def teacher(runs: Path, problem: str, seed: int) -> Path:
    """Return the run of the Omni."""
    start = HERE / "starts" / f"{problem}-omni"
    out, tasks = runs / f"{problem}-omni-seed{seed}", HERE / "two_tasks.toml"
    return learn(out, problem, TAUGHT, seed, start_from=start, tasks=tasks)


def read() -> dict[str, list[tidy.Line]]:
    """Return the stored lines of each run."""
    return tidy.read(STORED)


def main() -> None:
    """Do the runs that are not stored, and store their tests."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=Path, default=Path("runs/teaching"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    found = read()
    for problem in PROBLEMS:
        for method in (ALONE, TAUGHT):
            for seed in SEEDS:
                name = f"{problem}-{method}-seed{seed}"
                if name not in found:
                    buffer = teacher(given.runs, problem, seed) if method == TAUGHT else None
                    own = {"tasks": TASKS, "buffer_from": buffer}
                    folder = learn(given.runs / name, problem, method, seed, **own)
                    found[name] = tidy.lines(folder)
                    write_whole(STORED, tidy.as_csv(line for of in found.values() for line in of))


if __name__ == "__main__":
    main()
