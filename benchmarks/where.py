"""The time of a training step and of a greedy test by kind of operation.

    python benchmarks/where.py [--problems cvrp tsp] [--sizes 20 50 100] [--threads 2] [--json FILE]

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
from pathlib import Path

import official
import ours
import torch
from measurement import about, store
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
ENCODED = {"fine-tuning": 1.0, "reduced": 1.5, "whole": 17.0, "test": float(TESTS)}
"""Batches that are encoded; in reduced replay, a sixteenth of eight besides the own one."""


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


def column(problem: str, name: str, n: int) -> dict[str, float]:
    """Return the shares of one step, and that of the encoder alone."""
    batch = official.BATCH[n]
    if name == "test":
        step = ours.test(problem, n, TESTS * batch)
    else:
        reduced = ours.reduced(problem)
        options = {"fine-tuning": {}, "reduced": reduced, "whole": {**reduced, **ours.WHOLE}}
        step = ours.training_step(problem, n, batch, **options[name])
    found = shares(step)
    rows = round(ENCODED[name] * batch)
    encoder = ours.encoder(problem, n, rows, batch, learns=name != "test")
    took = in_turns({"step": step, "encoder": encoder}, 5)
    alone = statistics.median(took["encoder"]) / statistics.median(took["step"])
    return {of: round(found.get(of, 0.0), 4) for of in (*KINDS, REST)} | {ALONE: round(alone, 4)}


def main() -> None:
    """Print the shares of each step, and write them as JSON if asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="+", choices=("cvrp", "tsp"), default=["cvrp", "tsp"])
    parser.add_argument(
        "--sizes", nargs="+", type=int, choices=official.BATCH, default=[20, 50, 100]
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    made, figures = about(), []
    for problem, name, n in product(options.problems, ENCODED, options.sizes):
        found = column(problem, name, n)
        said = ", ".join(f"{of} {share:.0%}" for of, share in found.items())
        print(f"{problem} {name} {n}: {said}", flush=True)
        figures.append({"problem": problem, "step": name, "n": n, "shares": found})
    store(options.json, made, figures)


if __name__ == "__main__":
    main()
