"""Seconds per training batch of fine-tuning and LLR-BC, with the paper's sizes.

    python benchmarks/step.py [--official CHECKOUT] [--repeats 10] [--threads 2] [--smoke]

The last three columns were measured before this project began, on another machine (two CPU cores);
`against_official.py` has the ratios.
"""

import argparse
import statistics
from pathlib import Path

import official
import ours
import torch
from timing import in_turns

BEFORE = {  # n -> official fine-tuning, official LLR-BC, fine-tuning of a prototype, in seconds
    20: (0.174, 1.41, 0.157),
    50: (0.503, 2.18, 0.441),
    100: (1.43, 3.26, 1.09),
}


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
    sizes = {20: 64} if options.smoke else official.BATCH
    repeats = 2 if options.smoke else options.repeats
    checkout = official.find(options.official)
    if checkout is None:
        print("no official code found (`lifelong-co upstream fetch LLR-BC`); only ours is timed")
    print(f"seconds per batch, {options.problem}, {options.threads} threads; E = 16, every row")
    print("   n    B  fine-tuning   LLR-BC  official   ratio | before: official  LLR-BC  prototype")
    for n, batch in sizes.items():
        steps = {
            "fine-tuning": ours.training_step(options.problem, n, batch),
            "llr-bc": ours.training_step(options.problem, n, batch, **ours.WHOLE),
        }
        if checkout is not None:
            theirs = official.Official(checkout, options.problem)
            steps["official"] = official.training_step(theirs, n, batch)
        took = {name: statistics.median(times) for name, times in in_turns(steps, repeats).items()}
        beside = took.get("official", float("nan"))
        print(
            f"{n:4} {batch:4} {took['fine-tuning']:12.3f} {took['llr-bc']:8.3f} "
            f"{beside:9.3f} {beside / took['fine-tuning']:7.2f} | "
            "{:16.3f} {:7.2f} {:10.3f}".format(*BEFORE[n]),
            flush=True,
        )


if __name__ == "__main__":
    main()
