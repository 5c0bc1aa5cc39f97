"""Growth of time and memory with the number of nodes and the batch size, as a table and a plot.

    python benchmarks/growth.py [--problem cvrp] [--threads 2] [--gib 16] [--seconds 60]
        [--kinds step solve] [--device cpu] [--out docs]

A training step is a step of fine-tuning with one trajectory from every node, preset `paper`.
Solving is greedy, as in tests, without gradients. Each measurement runs in a separate process, so
that the peak memory is that of one measurement; with ``--device cuda`` it is that of the GPU. Time
and memory grow about with the cube of the nodes; a measurement that would need more than ``--gib``
or ``--seconds`` is left out. Stored points of the other kinds stay.
"""

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import attrs
import numpy as np
import torch

SIZES = (20, 50, 100, 200, 500, 1000)
BATCHES = (1, 4, 16, 64, 256)
KINDS = ("step", "solve")


@attrs.frozen
class Point:
    """One measurement."""

    kind: str
    n: int
    batch: int
    seconds: float
    gib: float
    """Peak memory minus the peak before the measurement."""


def peak(device: str) -> float:
    """Return the peak memory of this process, on a GPU that of the GPU, in GiB."""
    if device.startswith("cuda"):
        return torch.cuda.max_memory_reserved(device) / 2**30
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def measure(kind: str, problem: str, n: int, batch: int, threads: int, device: str) -> Point:
    """Measure in this process, which must be new; return the best of two, after a small step."""
    import ours
    from timing import wait

    from lifelong_co.evaluation import best_costs
    from lifelong_co.learner import train_batch

    torch.set_num_threads(threads)
    with torch.device(device):
        train_batch(ours.prepared(problem, 5, 2, "fine-tuning"))  # does imports, starts threads
        run = ours.prepared(problem, n, batch, "fine-tuning")
    wait()
    before, took = peak(device), []
    instances = run.learner.draw(0)
    for _ in range(2):  # on a GPU the first one captures graphs
        began = time.perf_counter()
        if kind == "step":
            train_batch(run)
        else:
            best_costs(run.learner.solver, instances)
        wait()
        took.append(time.perf_counter() - began)
        if took[-1] > 20:
            break
    return Point(kind, n, batch, min(took), peak(device) - before)


def in_a_process(*arguments: object) -> Point:
    """Do `measure` in a new process."""
    command = [sys.executable, __file__, "--one", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Point(**json.loads(done.stdout))


def expected(points: list[Point], what: str, kind: str, n: int, batch: int) -> float:
    """Return an estimate of memory or seconds from the nearest smaller measurement; 0 if none."""
    known = [p for p in points if p.kind == kind and p.n <= n and p.batch <= batch and p.n >= 50]
    if not known:
        return 0.0
    nearest = max(known, key=lambda p: (p.n, p.batch))
    value: float = getattr(nearest, what)
    if what == "gib" and kind == "solve":  # solving limits its memory
        return value
    return value * (n / nearest.n) ** 3 * batch / nearest.batch


def exponent(points: list[Point], what: str) -> float:
    """Return the exponent of n in time or memory: the slope of logarithms, from n = 100 on."""
    large = [p for p in points if p.n >= 100]
    if len(large) < 2:
        return math.nan
    x, y = [math.log(p.n) for p in large], [math.log(getattr(p, what)) for p in large]
    return float(np.polyfit(x, y, 1)[0])


def lines_of(points: list[Point]) -> list[list[Point]]:
    """Return the points of each kind and batch size, by n."""
    found = [[p for p in points if (p.kind, p.batch) == key] for key in product(KINDS, BATCHES)]
    return [sorted(line, key=lambda p: p.n) for line in found if len(line) > 1]


def draw(points: list[Point], path: Path) -> None:
    """Draw time and memory over n, with a line for each batch size."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 7), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True)
    units = (("seconds", "seconds"), ("gib", "peak memory, GiB"))
    titles = {"step": "training step", "solve": "greedy solving"}
    for (j, kind), (i, (what, label)) in product(enumerate(KINDS), enumerate(units)):
        axes = panels[i, j]
        for line in (line for line in lines_of(points) if line[0].kind == kind):
            grown = exponent(line, what)
            said = f"B = {line[0].batch}" + ("" if math.isnan(grown) else f", n^{grown:.1f}")
            axes.loglog([p.n for p in line], [getattr(p, what) for p in line], "o-", label=said)
        axes.set(title=f"{titles[kind]}", ylabel=label, xlabel="nodes n")
        axes.grid(visible=True, which="both", alpha=0.2)
        axes.legend(fontsize="small")
    figure.savefig(path, dpi=110)


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problem", default="cvrp", choices=("cvrp", "tsp"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--gib", type=float, default=16.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--out", type=Path, default=Path("docs"))
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        kind, problem, *numbers = options.one
        point = measure(kind, problem, *map(int, numbers), options.device)
        print(json.dumps(attrs.asdict(point)))
        return
    stored = options.out / f"growth-{options.problem}.json"
    kept = json.loads(stored.read_text()) if stored.exists() else []
    points = [Point(**point) for point in kept if point["kind"] not in options.kinds]
    print("kind      n    B   seconds     GiB")
    for kind, batch, n in product(options.kinds, BATCHES, options.sizes):
        if any(
            expected(points, what, kind, n, batch) > getattr(options, what)
            for what in ("gib", "seconds")
        ):
            continue
        point = in_a_process(
            kind, options.problem, n, batch, options.threads, "--device", options.device
        )
        points.append(point)
        print(f"{kind:6} {n:4} {batch:4} {point.seconds:9.3f} {point.gib:7.3f}", flush=True)
    for line in lines_of(points):
        time_grows, memory_grows = exponent(line, "seconds"), exponent(line, "gib")
        if math.isnan(time_grows):
            continue
        print(
            f"{line[0].kind}, B = {line[0].batch}, from n = 100 on: "
            f"time n^{time_grows:.2f}, memory n^{memory_grows:.2f}"
        )
    draw(points, options.out / f"growth-{options.problem}.png")
    rows = [attrs.asdict(point) for point in points]
    stored.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
