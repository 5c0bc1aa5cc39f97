"""The norm of the policy's gradient under each objective, after some steps of fine-tuning.

    python benchmarks/gradient_norms.py [--steps 100] [--last 20] [--threads 1] [--json FILE]

Preset `small` learns one of its tasks from random parameters; a norm is the mean of the last steps.
"""

import argparse
import tempfile
from itertools import product
from pathlib import Path
from statistics import fmean

import attrs
import torch
from lifelong_co_plugins.methods.regularization.weight_unit import gradient_norm
from measurement import about, store

from lifelong_co.config.resolve import resolve
from lifelong_co.learner import learn
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import Run, start

OBJECTIVES = ("reinforce", "reinforce-normalised", "preference", "best-of")
TASKS = ("E20", "GM40")


def norms(problem: str, task: str, objective: str, steps: int) -> list[float]:
    """Return the norm at each step."""
    found = []

    def note(run: Run, losses: object) -> None:  # noqa: ARG001
        found.append(float(gradient_norm(run.learner.solver.module)))

    config = resolve(
        method="fine-tuning",
        preset="small",
        problem=problem,
        objective=objective,
        schedule="linear",
        more_settings={"learning_rate": 3e-4},
    )
    (chosen,) = (one for one in config.tasks if f"{one.distribution}{one.size}" == task)
    alone = attrs.evolve(chosen, epochs=1, batches=steps)
    with tempfile.TemporaryDirectory() as folder:
        run = start(attrs.evolve(config, tasks=(alone,), tests=1), RunFolder(Path(folder)))
        learn(run, on_step=note)
    return found


def main() -> None:
    """Print the norms, and write them as JSON if asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--last", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    made, figures = about(), []
    for objective, problem, task in product(OBJECTIVES, ("cvrp", "tsp"), TASKS):
        norm = fmean(norms(problem, task, objective, options.steps)[-options.last :])
        print(f"{objective} {problem} {task}: {norm:.3g}", flush=True)
        figures.append({"objective": objective, "problem": problem, "task": task, "norm": norm})
    store(options.json, {**made, "steps": options.steps, "last": options.last}, figures)


if __name__ == "__main__":
    main()
