"""The price of each method: the time of its training steps in multiples of fine-tuning's.

    python benchmarks/method_steps.py [--problems cvrp tsp] [--turns 12] [--json FILE]

All methods learn the tasks of preset `small`, order 1, side by side: a step of each in turn, on one
thread. Of the four short epochs of a task, the third is timed: Li's methods replay nothing in it,
and LLR-BC records nothing, as in nine of the ten epochs of `small`. The mean of the turns counts: a
method may replay another task in each step, or none. What a method does between epochs and tasks is
not in the table.
"""

import argparse
import statistics
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
import torch
from measurement import about, store

from lifelong_co.config.resolve import resolve
from lifelong_co.config.run_config import Config
from lifelong_co.errors import Interrupted
from lifelong_co.learner import learn
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import Run, start
from lifelong_co.tasks.task import Task

BASE = "fine-tuning"
METHODS = (
    (BASE, {}),
    ("ewc", {}),
    ("averaged-weights", {}),
    ("llr-bc", {}),
    ("clear", {}),
    ("feng", {}),
    ("feng", {"every": 3}),
    ("rehearsal", {}),
    ("rehearsal", {"share": 0.3}),
    ("li-intra", {}),
    ("li-inter", {}),
    ("libog", {}),
    ("der++", {}),
)
EPOCHS, TIMED = 4, 2

Seconds = dict[str, dict[int, float]]
"""For each method the mean of each task."""


def short(method: str, options: Mapping[str, float], problem: str, batches: int) -> Config:
    """Return the configuration of `small` with short epochs."""
    config = resolve(
        method=method,
        method_options=dict(options),
        problem=problem,
        preset="small",
        order="1",
        device="cpu",
    )
    tasks = [attrs.evolve(task, epochs=EPOCHS, batches=batches) for task in config.tasks]
    return attrs.evolve(config, tasks=tuple(tasks), tests=2, curve_every=EPOCHS)


def advance(run: Run, task: int, epoch: int) -> None:
    """Learn up to the first step of an epoch of a task."""
    with suppress(Interrupted):
        learn(run, stop=lambda: (run.learner.task, run.learner.epoch) == (task, epoch))


def step(run: Run) -> float:
    """Take one step and return its seconds."""
    before = run.sums["seconds"]
    with suppress(Interrupted):
        learn(run, stop=lambda: True)
    return float(run.sums["seconds"] - before)


def means(runs: Mapping[str, Run], turns: int) -> Seconds:
    """Learn task after task, and time the steps of each in turns."""
    tasks = next(iter(runs.values())).config.tasks
    found: Seconds = {name: {} for name in runs}
    for task in range(len(tasks)):
        for run in runs.values():
            advance(run, task, TIMED)
        took = [{name: step(run) for name, run in runs.items()} for _ in range(turns)]
        for name in runs:
            found[name][task] = statistics.fmean(turn[name] for turn in took)
    return found


def ratios(problem: str, found: Seconds, tasks: tuple[Task, ...]) -> list[dict[str, Any]]:
    """Return each method's ratios: of all tasks together, and of those of each size."""
    sizes = sorted({task.size for task in tasks})
    groups = {"all tasks": sizes, **{f"n = {size}": [size] for size in sizes}}
    rows = []
    for name, of_task in found.items():
        row: dict[str, Any] = {"problem": problem, "method": name}
        for group, members in groups.items():
            chosen = [at for at, task in enumerate(tasks) if task.size in members]
            ratio = sum(of_task[at] for at in chosen) / sum(found[BASE][at] for at in chosen)
            row[group] = round(ratio, 4)
        rows.append(row)
    return rows


def measure(problem: str, turns: int) -> list[dict[str, Any]]:
    """Return the ratios of all methods on one problem."""
    with tempfile.TemporaryDirectory() as place:
        runs: dict[str, Run] = {}
        for method, changed in METHODS:
            config = short(method, changed, problem, turns + 1)
            folder = RunFolder(Path(place) / str(len(runs)))
            folder.create(config)
            label = ", ".join([method, *(f"{name}={value}" for name, value in changed.items())])
            runs[label] = start(config, folder)
        return ratios(problem, means(runs, turns), config.tasks)


def main() -> None:
    """Print the ratios, and write them as JSON if asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="+", choices=("cvrp", "tsp"), default=["cvrp", "tsp"])
    parser.add_argument("--turns", type=int, default=12)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    made, figures = about(), []
    for problem in options.problems:
        for row in measure(problem, options.turns):
            print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
            figures.append(row)
    store(options.json, made, figures)


if __name__ == "__main__":
    main()
