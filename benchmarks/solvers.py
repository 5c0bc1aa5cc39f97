"""Rollout and training step of our solvers beside the official classes, in one run.

    python benchmarks/solvers.py [--solvers pomo omni invit] [--problems tsp cvrp]
        [--sizes 20 50 100] [--repeats 10] [--threads 2] [--json FILE] [--smoke]

Our solver runs in the code of ``lifelong-co run``, the official class in the loop of its
environment and trainer. Both have the sizes of the `paper` preset, the same new weights and the
same instances. They run in turns, because only ratios have a meaning on a shared machine. Equal
greedy costs show that both do the same work. INViT's costs on the TSP differ, because the official
code starts at random nodes.

The official INViT takes nearest neighbors from torch_cluster. If it is installed (``pip install
--no-build-isolation torch-cluster`` compiles it), the official time includes it. Otherwise a slow
replacement is used, and the target is compared with the ratio without its time; that ratio can only
be too low. ``knn`` is the time in either function, ``without`` is the ratio without it. A ratio is
the median over turns, with its quartiles.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import official_loops
import torch
from lifelong_co_adapters.official.locate import place, present
from measurement import about, store
from official_loops import Search, Timed
from timing import ratio

from lifelong_co import registry
from lifelong_co.config.resolve import resolve
from lifelong_co.config.run_config import Config
from lifelong_co.learner import train_batch
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import Run, new_optimizer, start
from lifelong_co.tasks.task import Task

UPSTREAM = {"pomo": "POMO", "omni": "Omni-VRP", "invit": "INViT"}
RATIOS = ("ratio", "without")
TARGET = {"pomo": 1.0, "omni": 1.0, "invit": 3.0}
BATCH = {20: 64, 50: 32, 100: 16}  # POMO and Omni
INVIT_ROWS = {20: 64, 50: 64, 100: 32}  # official: 0.33 GiB for each trajectory of 100 nodes
# The official rule, so that both do the same work.
OPTIONS = {"invit": {"strict_capacity": True}}


@attrs.frozen
class Repetition:
    """The seconds of both in one turn, and their mean costs."""

    ours: float
    official: float
    search: float
    """The part of the official seconds that is spent in the nearest neighbors."""
    costs: tuple[float, float]


def prepared(config: Config, weights: dict[str, torch.Tensor], n: int, batch: int) -> Run:
    """Return a run that is ready to train, with the same instances in each step."""
    task = Task(distribution="U", size=n, epochs=1, batches=1, batch_size=batch)
    config = attrs.evolve(config, tasks=(task,), tests=2)
    with tempfile.TemporaryDirectory() as folder:  # nothing is written to it
        run = start(config, RunFolder(Path(folder)))
    learner = run.learner
    learner.solver.load_official(weights)
    learner.optimizer = new_optimizer(config, learner)
    run.method.before_task(learner)
    run.objective.before_task(learner)
    instances = learner.draw(0)
    learner.stream = SimpleNamespace(batch=lambda *_: instances)
    learner.batch = 1  # the first step checks the solver
    return run


def ours(run: Run) -> Timed:
    """Return the timed functions of our solver."""
    solver = run.learner.solver

    @torch.no_grad()
    def rollout() -> float:
        solver.module.eval()
        found = solver.rollout(run.learner.draw(0), "greedy")
        return found.cost.min(dim=1).values.mean().item()

    def step() -> float:
        solver.module.train()
        return train_batch(run)["cost"].item()

    return Timed(rollout, step)


def both(name: str, problem: str, n: int, batch: int) -> tuple[Timed, Timed]:
    """Return our solver and the official one, with the same weights and instances."""
    config = resolve(
        solver=name,
        problem=problem,
        method="fine-tuning",
        preset="paper",
        fresh=True,
        images=False,  # no symmetric images for INViT; the official step has none, either
        solver_options=OPTIONS.get(name),
    )
    options = config.solver_options
    network = registry.solver(f"official-{name}", registry.problem(problem), **options).module
    run = prepared(config, network.state_dict(), n, batch)
    instances = run.learner.draw(0)
    if name == "invit":
        sizes = options["action_k"], options["state_k"]
        theirs = official_loops.invit(network, instances, problem, *sizes)
    else:
        theirs = official_loops.attention(name, network, instances, problem)
    return ours(run), theirs


def repetition(
    mine: Callable[[], float], theirs: Callable[[], float], search: Search
) -> Repetition:
    """Time both, one after the other."""
    began = time.perf_counter()
    cost = mine()
    between = time.perf_counter()
    search.seconds = 0.0
    costs = cost, theirs()
    return Repetition(between - began, time.perf_counter() - between, search.seconds, costs)


def figure(turns: list[Repetition]) -> dict[str, Any]:
    """Return the medians of seconds, and the ratios."""
    mine, theirs = [turn.ours for turn in turns], [turn.official for turn in turns]
    rest = [turn.official - turn.search for turn in turns]
    return {
        "ours": statistics.median(mine),
        "official": statistics.median(theirs),
        "knn": statistics.median(turn.search for turn in turns),
        "ratio": attrs.asdict(ratio(theirs, mine)),
        "without": attrs.asdict(ratio(rest, mine)),
        "costs": turns[0].costs,
    }


def line(found: dict[str, Any]) -> str:
    """Return a figure as a line."""
    at = "{solver:6} {problem:5} {n:3} {rows:3} {what:7}".format(**found)
    whole, rest = ("{median:5.2f} ({low:.2f}-{high:.2f})".format(**found[of]) for of in RATIOS)
    seconds = "ours {ours:.3f} s, official {official:.3f} s, knn {knn:.3f} s".format(**found)
    return f"{at} {whole}, without knn {rest}; {seconds}; costs {found['costs']}"


def missing(name: str) -> bool:
    """Return whether the official code is missing; if so, print a line."""
    upstream = UPSTREAM[name]
    absent = not present(place(upstream))
    if absent:
        print(f"{name}: no official code; `lifelong-co upstream fetch {upstream}` downloads it")
    return absent


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--solvers", nargs="+", choices=UPSTREAM, default=list(UPSTREAM))
    parser.add_argument("--problems", nargs="+", choices=("tsp", "cvrp"), default=["tsp", "cvrp"])
    parser.add_argument("--sizes", nargs="+", type=int, choices=BATCH, default=list(BATCH))
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--smoke", action="store_true", help="n = 6, everything once")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    solvers = [name for name in options.solvers if not missing(name)]
    if not solvers:
        return
    search = Search()
    if "invit" in solvers:
        search.install()
        source = "torch_cluster" if search.genuine else "a replacement"
        print(f"nearest neighbors of INViT: {source}")
    compared = RATIOS[0 if search.genuine else 1]
    repeats, sizes = (1, [6]) if options.smoke else (options.repeats, options.sizes)
    made, figures, short = about(), [], []
    for name, problem, n in product(solvers, options.problems, sizes):
        batch = 4 if options.smoke else (INVIT_ROWS if name == "invit" else BATCH)[n]
        mine, theirs = both(name, problem, n, batch)
        for what in ("rollout", "step"):  # in this order: steps change the weights
            pair = getattr(mine, what), getattr(theirs, what)
            if not options.smoke:
                repetition(*pair, search)  # warm up
            turns = [repetition(*pair, search) for _ in range(repeats)]
            at = {"solver": name, "problem": problem, "n": n, "rows": batch, "what": what}
            figures.append({**at, **figure(turns)})
            print(line(figures[-1]), flush=True)
            if figures[-1][compared]["median"] < TARGET[name]:
                short.append(line(figures[-1]))
            store(options.json, {**made, "repeats": repeats}, figures)
    if not options.smoke:
        print("\n".join(("below target:", *short)) if short else "all targets met")


if __name__ == "__main__":
    main()
