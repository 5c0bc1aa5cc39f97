"""Seconds per training batch, fine-tuning and LLR-BC, at the paper's sizes.

    python benchmarks/step.py [--official CHECKOUT] [--repeats 10] [--threads 2] [--smoke]

Ours is timed on the code path that ``lifelong-co run`` takes. With a checkout of the official
repository both are timed alternately in one process, since only ratios mean anything on a shared
machine. The columns of design.md §6 were measured on another machine.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import attrs
import official
import torch

from lifelong_co.config import resolve
from lifelong_co.learner import train_batch
from lifelong_co.run import Run, new_optimizer, start
from lifelong_co.run_folder import RunFolder
from lifelong_co.tasks import Task

SIZES = {20: 64, 50: 32, 100: 16}  # n -> batch size
DESIGN = {  # n -> official fine-tuning, official LLR-BC, prototype's fine-tuning (design §6)
    20: (0.174, 1.41, 0.157),
    50: (0.503, 2.18, 0.441),
    100: (1.43, 3.26, 1.09),
}


def prepared(n: int, batch: int, method: str, problem: str, folder: Path) -> Run:
    """Return a run that is about to train on its second task."""
    config = resolve(method=method, preset="paper", problem=problem)
    task = Task(distribution="U", size=n, epochs=1, batches=1, batch_size=batch)
    run = start(attrs.evolve(config, tasks=(task, task), tests=2), RunFolder(folder))
    run.learning.optimizer = new_optimizer(run.config, run.learning)
    run.method.before_task(run.learning)
    for _ in range(2 if method == "llr-bc" else 0):  # the last epoch: fills the buffer
        train_batch(run)
    run.learning.task = 1
    run.method.before_task(run.learning)
    run.learning.epoch = -1  # not the last: record nothing
    return run


def medians(steps: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Time the steps alternately and return the median of each, in seconds."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for step in steps.values():
        step()  # warm up
    for _ in range(repeats):
        for name, step in steps.items():
            began = time.perf_counter()
            step()
            times[name].append(time.perf_counter() - began)
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--official", type=Path, help="checkout of github.com/PeiJY/LLR-BC")
    parser.add_argument("--problem", default="cvrp", choices=("cvrp", "tsp"))
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--smoke", action="store_true", help="n = 20 only, few repeats")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    sizes = {20: 64} if options.smoke else SIZES
    repeats = 2 if options.smoke else options.repeats
    checkout = official.find(options.official) if options.problem == "cvrp" else None
    if checkout is None:
        print("official code: not here (--official CHECKOUT); ours alone")
    print(f"seconds per batch, {options.problem}, {options.threads} threads; E = 16, every row")
    print("   n    B  fine-tuning   LLR-BC  official   ratio | design: official  LLR-BC  prototype")
    for n, batch in sizes.items():
        with tempfile.TemporaryDirectory() as folder:
            steps: dict[str, Callable[[], object]] = {}
            for method in ("fine-tuning", "llr-bc"):
                run = prepared(n, batch, method, options.problem, Path(folder))
                steps[method] = lambda run=run: train_batch(run)
            if checkout is not None:
                steps["official"] = official.fine_tuning_step(checkout, n, batch)
            took = medians(steps, repeats)
        beside = took.get("official", float("nan"))
        print(
            f"{n:4} {batch:4} {took['fine-tuning']:12.3f} {took['llr-bc']:8.3f} "
            f"{beside:9.3f} {beside / took['fine-tuning']:7.2f} | "
            "{:16.3f} {:7.2f} {:10.3f}".format(*DESIGN[n]),
            flush=True,
        )


if __name__ == "__main__":
    main()
