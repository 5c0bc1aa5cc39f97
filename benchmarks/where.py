"""The time of a training step and of a greedy test by kind of operation.

    python benchmarks/where.py [--problem cvrp] [--sizes 20 50 100] [--threads 2]

The table has shares of the time by PyTorch's profiler, for a step of fine-tuning, a step of LLR-BC
with the options of preset `paper-economy`, a step that replays 16 whole units, and a greedy test.
Batch sizes are the paper's. The last row is the time of the encoder's passes alone: no code that
computes the same can take less.
"""

import argparse
import statistics
from collections import Counter
from collections.abc import Callable
from itertools import product

import official
import ours
import torch
from timing import in_turns
from torch.profiler import ProfilerActivity, profile

# The kind of an operation is the first one that has a word in the operation's name.
KINDS = {
    "linear maps": ("linear", "addmm", "affine"),
    "other products": ("mm",),
    "softmax": ("softmax", "exp2_", "amax"),  # `pomo.attention` uses exp2_ and amax
    "normalisation": ("norm",),
    "ReLU": ("relu", "threshold"),
    "copies": ("copy_", "clone", "contiguous", "aten::cat", "stack"),
    "adding and summing": ("aten::add", "aten::sum", "aten::sub"),
    "exp, sigmoid": ("aten::exp", "sigmoid"),
    "looking up": ("embedding", "index", "gather", "scatter"),
}
REST = "the rest"
ALONE = "encoder alone"
TESTS = 4  # batches
ENCODED = {"fine-tuning": 1.0, "shipped": 1.5, "whole": 17.0, "test": float(TESTS)}
"""Batches that are encoded; as shipped, a sixteenth of eight besides the own one."""


def kind(operation: str) -> str:
    """Return the kind of an operation."""
    name = operation.lower()
    return next((of for of, words in KINDS.items() if any(word in name for word in words)), REST)


def shares(step: Callable[[], object]) -> dict[str, float]:
    """Return the share of each kind in a step, after two steps to warm up."""
    for _ in range(2):
        step()
    with profile(activities=[ProfilerActivity.CPU], acc_events=True) as watched:
        step()
    found: Counter[str] = Counter()
    for event in watched.key_averages():
        found[kind(event.key)] += event.self_cpu_time_total
    return {of: time / found.total() for of, time in found.items()}


def main() -> None:
    """Print a column for each step."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problem", default="cvrp", choices=("cvrp", "tsp"))
    parser.add_argument(
        "--sizes", nargs="+", type=int, choices=official.BATCH, default=[20, 50, 100]
    )
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    shipped = ours.shipped(options.problem)
    steps = {"fine-tuning": {}, "shipped": shipped, "whole": {**shipped, **ours.WHOLE}}
    columns = {}
    for name, n in product((*steps, "test"), options.sizes):
        batch = official.BATCH[n]
        if name == "test":
            step = ours.test(options.problem, n, TESTS * batch)
        else:
            step = ours.training_step(options.problem, n, batch, **steps[name])
        column = columns[f"{name} {n}"] = shares(step)
        rows = round(ENCODED[name] * batch)
        encoder = ours.encoder(options.problem, n, rows, batch, learns=name != "test")
        took = in_turns({"step": step, "encoder": encoder}, 5)
        column[ALONE] = statistics.median(took["encoder"]) / statistics.median(took["step"])
    print(f"{'':20}" + "".join(f"{name:>16}" for name in columns))
    for of in (*KINDS, REST, ALONE):
        print(f"{of:20}" + "".join(f"{column.get(of, 0.0):16.0%}" for column in columns.values()))


if __name__ == "__main__":
    main()
