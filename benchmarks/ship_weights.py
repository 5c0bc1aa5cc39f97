"""Packs the solver of a run as the weights that ship with the package for its problem.

    lifelong-co run --tasks TASKS --problem tsp --out RUN
    python benchmarks/ship_weights.py RUN [--folder DIR]

It writes ``parameters.safetensors`` and the model card ``card.json`` to
``adapters/lifelong_co_adapters/weights/<problem>/``: solver, method, seed, tasks, cost matrix, the
hash of the parameters, and for each test set up to 100 nodes the mean cost of the solver and of
the nearest-neighbor rule. Where the solver is not better than this rule, the card and the output
say so.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import attrs
import torch
from lifelong_co_adapters import shipped

from lifelong_co.config.run_config import Config
from lifelong_co.errors import ConfigError
from lifelong_co.evaluation import best_costs
from lifelong_co.instance_files.nearest_neighbor import least_costs
from lifelong_co.protocols import Solver
from lifelong_co.runs import provenance
from lifelong_co.runs.folder import RunFolder, refuse_start
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.tasks.instances import testing
from lifelong_co.tasks.task import Task

LARGEST = 100
LEARNED_BY = ("objective", "schedule", "learning_rate", "precision")


def compared(solver: Solver, config: Config) -> list[dict[str, Any]]:
    """Return the mean cost of the solver and of nearest neighbor on each task's tests."""
    rows = []
    for task in config.tasks:
        if not 0 < task.size <= LARGEST:
            continue
        groups = testing(task, solver.problem, config.tests)
        ours = torch.cat([best_costs(solver, group) for group in groups]).double().mean().item()
        rule = torch.cat([least_costs(solver.problem, group) for group in groups])
        nearest = rule.double().mean().item()
        rows.append(
            {
                "task": task.label,
                "cost": ours,
                "nearest_neighbor": nearest,
                "better": ours < nearest,
            }
        )
    return rows


def card(folder: Path, solver: Solver) -> dict[str, Any]:
    """Return the model card of a finished run."""
    run = RunFolder(folder)
    config = run.config()
    refuse_start(config, folder)
    if run.learned() < len(config.tasks):
        raise ConfigError(f"{folder}: expected a finished run, got {run.learned()} tasks learned")
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    return {
        "solver": config.solver,
        "solver_options": dict(config.solver_options),
        "method": config.method,
        "method_options": dict(config.method_options),
        "preset": config.preset,
        **{name: getattr(config, name) for name in LEARNED_BY},
        "seed": config.seed,
        "tasks": [{"name": task.label, **described(task)} for task in config.tasks],
        # With `tests_after=next`: [tasks learned, task, cost] of each test.
        "costs": metrics["costs"] if "costs" in metrics else metrics["tests"],
        "tests": config.tests,
        "tested": compared(solver, config),
        "made_by": [attrs.asdict(entry.maker) for entry in provenance.read(folder)],
    }


def described(task: Task) -> dict[str, Any]:
    """Return the values of a task that are not its defaults."""
    kept = attrs.asdict(task, filter=lambda field, value: value != field.default)
    return {name: value for name, value in kept.items() if name != "name"}


def main() -> None:
    """Write the weights and the card, and print where the solver is not better than the rule."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("run", type=Path, metavar="RUN")
    parser.add_argument("--folder", type=Path, default=shipped.FOLDER)
    given = parser.parse_args()
    solver = load_solver(given.run)
    made = card(given.run, solver)
    place = shipped.write(solver, made, given.folder)
    for row in made["tested"]:
        verdict = "better" if row["better"] else "NOT better"
        print(
            f"{row['task']}: cost {row['cost']:.4f}, nearest neighbor"
            f" {row['nearest_neighbor']:.4f}: {verdict}"
        )
    size = (place / shipped.PARAMETERS).stat().st_size
    print(f"{place}: {size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
