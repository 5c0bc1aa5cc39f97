"""The price of whole runs of `rehearsal`: the time of their training in multiples of fine-tuning's.

    python benchmarks/whole_runs.py [--problems cvrp tsp] [--json FILE]

Runs of preset `small`, order 1, learn side by side on one thread: an epoch of each in turn, so that
all meet the same changes of the machine's speed. Each task has three epochs; the mean of the second
and the third stands for those that are left out. What a method does before an epoch counts; tests
and the storing of a run do not.
"""

import argparse
import itertools
import statistics
import tempfile
from pathlib import Path
from typing import Any

import attrs
import torch
from measurement import about, store
from method_steps import BASE, advance
from row_values import row_of
from study import Study

from lifelong_co.config.run_config import Config
from lifelong_co.learner import learn
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import Run, start

ROWS = (BASE, "rehearsal", "rehearsal, cheap")
"""The rows of `comparison.toml` whose time has a goal."""
EPOCHS = 3


def whole(row: str, problem: str) -> Config:
    """Return the configuration of the first run of a row, on order 1."""
    plan = Study.named("comparison").plan
    block = next(each for each in plan.blocks if each.problem == problem)
    _, _, name = row_of(block, row).cells[0]
    return plan.jobs[name].config


def shorter(config: Config) -> Config:
    """Return the configuration with few epochs and tests."""
    tasks = tuple(attrs.evolve(task, epochs=EPOCHS) for task in config.tasks)
    return attrs.evolve(config, tasks=tasks, tests=2, curve_every=EPOCHS)


def seconds(run: Run, epochs: int) -> float:
    """Return the time of all training, with the epochs of each task that were left out."""
    of_task: dict[int, list[float]] = {}
    for entry in run.history:
        of_task.setdefault(entry["learning"], []).append(entry["seconds"])
    return sum(
        first + (epochs - 1) * statistics.fmean(others) for first, *others in of_task.values()
    )


def measure(problem: str) -> list[dict[str, Any]]:
    """Return the seconds of each row, and their ratio to those of fine-tuning."""
    with tempfile.TemporaryDirectory() as place:
        runs: dict[str, Run] = {}
        for row in ROWS:
            config = whole(row, problem)
            folder = RunFolder(Path(place) / str(len(runs)))
            folder.create(shorter(config))
            runs[row] = start(shorter(config), folder)
        for task, epoch in itertools.product(range(len(config.tasks)), range(EPOCHS)):
            first = (task + epoch) % len(runs)  # each comes first equally often
            for run in [*runs.values()][first:] + [*runs.values()][:first]:
                advance(run, task, epoch)
        for run in runs.values():
            learn(run)
        took = {row: seconds(run, config.tasks[0].epochs) for row, run in runs.items()}
    return [
        {
            "problem": problem,
            "row": row,
            "seconds": round(each, 1),
            "ratio": round(each / took[BASE], 4),
        }
        for row, each in took.items()
    ]


def main() -> None:
    """Print the ratios, and write them as JSON if asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="+", choices=("cvrp", "tsp"), default=["cvrp", "tsp"])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    made, figures = about(), []
    for problem in options.problems:
        for row in measure(problem):
            print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
            figures.append(row)
    store(options.json, made, figures)


if __name__ == "__main__":
    main()
