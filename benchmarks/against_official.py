"""The targets of speed: ours beside the official LLR-BC code, in one run, as ratios.

    python benchmarks/against_official.py [--problems cvrp tsp] [--sizes 20 50 100]
        [--repeats 5] [--tests 1000] [--threads 2] [--device cpu] [--json FILE] [--smoke]

Both sides run in turns. Each ratio is the median over turns, with its quartiles and its target
(`marks`). Networks, batches and buffers have the paper's sizes. "Reduced replay" is that of
preset `paper-economy`. With ``--smoke`` (n = 20, few turns) the exit status is 1 if a ratio of
steps or of sampling is 30 % worse than before: than the stored one of the same processor, or, on
another processor, than the worst stored one.
Without the official code three ratios remain: our fine-tuning step to a pass of torch's encoder and
to the same step in bfloat16, and our LLR-BC step to our fine-tuning step.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import attrs
import marks
import official
import ours
import torch
from measurement import about, read, store
from timing import Ratio, in_turns, ratio

from lifelong_co.runs.provenance import processor

DISTRIBUTIONS = ("U", "GM", "E", "C", "G", "R")
STORED = ("against_official", "against_official_zen4")
"""The results to compare with, of two processors."""


@attrs.frozen
class Figure:
    """The measured value for a target."""

    mark: marks.Mark
    problem: str
    n: int
    value: Ratio
    note: str = ""

    def line(self) -> str:
        """Return the figure as a line of the table."""
        bound = self.mark.bounds.get(self.n)
        wanted = "" if bound is None else f"{'<=' if self.mark.upper else '>='} {bound:g}"
        held = "" if self.mark.held(self.value.median, self.n) else "  MISSED"
        return (
            f"{self.problem:5} {self.n:4} {self.mark.what:52} {self.value.median:8.2f} "
            f"{self.value.low:8.2f}-{self.value.high:<8.2f} {wanted:<9}{self.note}{held}"
        )


def steps(problem: str, n: int, repeats: int, theirs: official.Official | None) -> Iterator[Figure]:
    """Measure the training steps; without the official code only ours."""
    batch, reduced = official.BATCH[n], ours.reduced(problem)
    sides = {
        "stock": ours.stock_pass(n + (problem == "cvrp"), batch),
        "ours": ours.training_step(problem, n, batch),
        "narrow": ours.training_step(problem, n, batch, precision="bfloat16"),
        "reduced": ours.training_step(problem, n, batch, **reduced),
    }
    if theirs is not None:
        sides["official"] = official.training_step(theirs, n, batch)
        sides["official whole"] = official.replaying_step(theirs, n, batch, fill=2)
        whole = {**reduced, **ours.WHOLE}
        sides["whole"] = ours.training_step(problem, n, batch, **whole)
        sides["narrow whole"] = ours.training_step(problem, n, batch, precision="bfloat16", **whole)
        sides["bundled"] = ours.training_step(problem, n, batch, **{**reduced, **ours.BUNDLED})
    took = in_turns(sides, repeats)
    if theirs is not None:
        seconds = f" {min(took['ours']):.3f} s at best"
        yield Figure(marks.FINE_TUNING, problem, n, ratio(took["official"], took["ours"]), seconds)
        yield Figure(marks.WHOLE, problem, n, ratio(took["official whole"], took["whole"]))
        yield Figure(marks.BUNDLED, problem, n, ratio(took["official whole"], took["bundled"]))
        yield Figure(marks.NARROW_OFFICIAL, problem, n, ratio(took["official"], took["narrow"]))
        yield Figure(marks.NARROW_WHOLE, problem, n, ratio(took["whole"], took["narrow whole"]))
    yield Figure(marks.NARROW, problem, n, ratio(took["ours"], took["narrow"]))
    yield Figure(marks.REDUCED, problem, n, ratio(took["reduced"], took["ours"]))
    yield Figure(marks.STOCK, problem, n, ratio(took["ours"], took["stock"]))


def recording(theirs: official.Official, n: int, batches: int) -> Figure:
    """Measure the cost of recording experiences."""
    watched = ours.recording(theirs.problem, n, official.BATCH[n], batches)
    share = 100 * watched.recording / watched.whole
    return Figure(marks.RECORDING, theirs.problem, n, Ratio(share, share, share))


def test(theirs: official.Official, n: int, tests: int, repeats: int) -> Figure:
    """Measure a greedy test."""
    pair = {
        "official": official.test(theirs, n, tests),
        "ours": ours.test(theirs.problem, n, tests),
    }
    took = in_turns(pair, repeats)
    return Figure(marks.TEST, theirs.problem, n, ratio(took["official"], took["ours"]))


def sampling(theirs: official.Official, n: int, repeats: int) -> Figure:
    """Measure the distribution with the slowest sampling in the official code."""
    found: dict[str, tuple[float, Ratio]] = {}
    for name in DISTRIBUTIONS:
        arguments = n, official.BATCH[n], name
        took = in_turns(
            {
                "official": official.sampling(theirs, *arguments),
                "ours": ours.sampling(theirs.problem, *arguments),
            },
            repeats,
        )
        found[name] = min(took["official"]), ratio(took["official"], took["ours"])
    slowest = max(found, key=lambda name: found[name][0])
    return Figure(marks.SAMPLING, theirs.problem, n, found[slowest][1], f" {slowest}")


def buffer_bytes(theirs: official.Official, n: int) -> Figure:
    """Measure the memory of a state."""
    batch = official.BATCH[n]
    mine = ours.bytes_a_state(theirs.problem, n, batch)
    value = official.bytes_a_state(theirs, n, batch) / mine
    return Figure(marks.BYTES, theirs.problem, n, Ratio(value, value, value), f" {mine:.0f} bytes")


def figures(
    problem: str, n: int, checkout: Path | None, options: argparse.Namespace
) -> Iterator[Figure]:
    """Measure everything for one problem and size; without the official code only our steps."""
    theirs = None if checkout is None else official.Official(checkout, problem)
    yield from steps(problem, n, options.repeats, theirs)
    if theirs is None:
        return
    yield sampling(theirs, n, options.repeats)
    yield buffer_bytes(theirs, n)
    if not options.smoke:
        yield recording(theirs, n, options.recorded)
        yield test(theirs, n, options.tests, options.repeats)


def main() -> int:
    """Print the table, write it as JSON if asked for, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--official", type=Path, help="checkout of github.com/PeiJY/LLR-BC")
    parser.add_argument("--problems", nargs="+", choices=("cvrp", "tsp"), default=["cvrp", "tsp"])
    parser.add_argument("--sizes", nargs="+", type=int, choices=official.BATCH, default=None)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--recorded", type=int, default=10, help="batches of the last epoch")
    parser.add_argument("--tests", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--smoke", action="store_true", help="n = 20, steps only")
    options = parser.parse_args()
    checkout = official.find(options.official)
    if checkout is None:
        print("no official code found; `lifelong-co upstream fetch LLR-BC` downloads it")
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    sizes = options.sizes or ([20] if options.smoke else list(official.BATCH))
    made = about()  # before the results change a file of the checkout
    made["repeats"] = options.repeats
    print(json.dumps(made))
    measured: list[Figure] = []
    all_lost: list[Figure] = []
    for problem, n in product(options.problems, sizes):
        # Up to three times: a ratio that is worse by chance is not worse each time.
        for _ in range(3 if options.smoke else 1):
            found = measure(problem, n, checkout, options, made, measured)
            lost = [figure for figure in found if options.smoke and warn_if_lost(figure)]
            if not lost:
                break
        measured += found
        all_lost += lost
    return int(bool(all_lost))


def measure(
    problem: str,
    n: int,
    checkout: Path | None,
    options: argparse.Namespace,
    made: dict[str, object],
    before: list[Figure],
) -> list[Figure]:
    """Measure and print all figures for one problem and size; after each, write all so far."""
    found = []
    with official.on(options.device):
        for figure in figures(problem, n, checkout, options):
            print(figure.line(), flush=True)
            found.append(figure)
            if checkout is not None:  # without it there are too few to keep
                store(options.json, made, [attrs.asdict(each) for each in (*before, *found)])
    return found


def warn_if_lost(figure: Figure) -> bool:
    """Return whether a figure is 30 % worse than before; if so, print a line."""
    before = expected(figure, [read(name) for name in STORED], processor())
    lost = before is not None and figure.mark.lost(figure.value.median, before)
    if lost:
        print(f"LOST: {figure.problem} {figure.n} {figure.mark.what}, {before:.2f} before")
    return lost


def expected(figure: Figure, stored: Sequence[dict[str, Any]], processor: str) -> float | None:
    """Return the stored median of the same processor, otherwise the worst of all.

    For sampling, which takes only milliseconds, it is the target.
    """
    mark = figure.mark
    if mark == marks.SAMPLING:
        return mark.bounds[figure.n]
    same = [each for each in stored if each["cpu"] == processor]
    key = mark.what, figure.problem, figure.n
    medians = [
        float(each["value"]["median"])
        for measured in same or stored
        for each in measured["figures"]
        if (each["mark"]["what"], each["problem"], each["n"]) == key
    ]
    worst = max if mark.upper else min
    return worst(medians, default=None)


if __name__ == "__main__":
    sys.exit(main())
