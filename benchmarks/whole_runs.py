"""The price of whole runs of `rehearsal`: the time of their training in multiples of fine-tuning's.

    python benchmarks/whole_runs.py [--problems cvrp tsp] [--seed 0] [--json FILE]

Runs of preset `small`, order 1, learn side by side on one thread: an epoch of each in turn, so that
all meet the same changes of the machine's speed. What a method does before an epoch counts; tests
and the storing of a run do not.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import attrs
import torch
from measurement import about, store
from method_steps import BASE, advance

from lifelong_co.config.resolve import resolve
from lifelong_co.config.run_config import Config
from lifelong_co.experiments.comparison.runs import load_run
from lifelong_co.learner import learn
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import start

ROWS: dict[str, tuple[str, dict[str, float]]] = {
    BASE: ("fine-tuning", {}),
    "rehearsal": ("rehearsal", {}),
    "rehearsal, cheap": (
        "rehearsal",
        {"share": 0.4, "every": 2, "weight": 1.0, "imitation": 0.6},
    ),
}
"""The rows of `comparison.toml` whose time has a goal."""


def whole(row: str, problem: str, seed: int) -> Config:
    """Return the configuration of a row, with few tests."""
    method, options = ROWS[row]
    config = resolve(
        method=method,
        method_options=options,
        problem=problem,
        preset="small",
        order_number="1",
        device="cpu",
        seed=seed,
    )
    return attrs.evolve(config, tests=2)


def measure(problem: str, seed: int) -> list[dict[str, Any]]:
    """Return the seconds of each row, and their ratio to those of fine-tuning."""
    with tempfile.TemporaryDirectory() as place:
        runs = {}
        for row in ROWS:
            config = whole(row, problem, seed)
            folder = RunFolder(Path(place) / str(len(runs)))
            folder.create(config)
            runs[row] = start(config, folder)
        for task, each in enumerate(config.tasks):
            for epoch in range(each.epochs):
                for run in runs.values():
                    advance(run, task, epoch)
        for run in runs.values():
            learn(run)
        took = {row: load_run(run.folder.path).seconds or 0.0 for row, run in runs.items()}
    return [
        {
            "problem": problem,
            "row": row,
            "seed": seed,
            "seconds": round(seconds, 1),
            "ratio": round(seconds / took[BASE], 4),
        }
        for row, seconds in took.items()
    ]


def main() -> None:
    """Print the ratios, and write them as JSON if asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="+", choices=("cvrp", "tsp"), default=["cvrp", "tsp"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    made, figures = about(), []
    for problem in options.problems:
        for row in measure(problem, options.seed):
            print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
            figures.append(row)
    store(options.json, made, figures)


if __name__ == "__main__":
    main()
