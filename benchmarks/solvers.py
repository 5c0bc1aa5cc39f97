"""Rollout and training step of our solvers beside the official classes, in one run.

    python benchmarks/solvers.py [--solvers pomo omni invit] [--problems tsp cvrp]
        [--sizes 20 50 100] [--repeats 10] [--threads 2] [--smoke]

Ours is timed on the code path that ``lifelong-co run`` takes, the official class in the loop of
its own environment and trainer. Both have the sizes of the `paper` preset, the same fresh weights
and the same instances, and take turns, since only ratios mean anything on a shared machine. That
greedy costs agree shows that both do the same; INViT's TSP differs, where theirs starts at random
nodes.

INViT's nearest neighbors come from torch_cluster. Where that is installed (``pip install
--no-build-isolation torch-cluster`` compiles it) it is used, and the official time is all of it.
Otherwise a slow stand-in serves, and the time without it, as if torch_cluster took none, is what is
judged: that ratio can only be too low. ``knn`` is the time in either, ``without`` that ratio.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

import attrs
import official_loops
import torch
from lifelong_co_adapters.official.locate import place, present
from official_loops import Search, Timed

from lifelong_co import registry
from lifelong_co.config.run_config import Config, resolve
from lifelong_co.learner import train_batch
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import Run, new_optimizer, start
from lifelong_co.tasks.task import Task
from lifelong_co.testing.gradients import Repeated

UPSTREAM = {"pomo": "POMO", "omni": "Omni-VRP", "invit": "INViT"}
TARGET = {"pomo": 1.0, "omni": 1.0, "invit": 3.0}
BATCH = {20: 64, 50: 32, 100: 16}  # POMO and Omni
INVIT_ROWS = {20: 64, 50: 64, 100: 32}  # one trajectory each; theirs takes 0.33 GiB a row of 100
# The official rule, so that both do the same.
OPTIONS = {"invit": {"strict_capacity": True}}
HEADER = (
    "solver problem   n   B what        ours  official  ratio  quartiles    knn  without | "
    "cost: ours  official"
)


@attrs.frozen
class Repetition:
    """Seconds of one turn of both, and the mean costs they reached."""

    ours: float
    official: float
    search: float
    """Of the official's, in the stand-in for torch_cluster."""
    costs: tuple[float, float]


def prepared(config: Config, weights: dict[str, torch.Tensor], n: int, batch: int) -> Run:
    """Return a run about to train, whose instances are always the same."""
    task = Task(distribution="U", size=n, epochs=1, batches=1, batch_size=batch)
    config = attrs.evolve(config, tasks=(task,), tests=2)
    with tempfile.TemporaryDirectory() as folder:  # nothing is written to it
        run = start(config, RunFolder(Path(folder)))
    learner = run.learner
    learner.solver.load_official(weights)
    learner.optimizer = new_optimizer(config, learner)
    run.method.before_task(learner)
    run.objective.before_task(learner)
    learner.stream = Repeated(learner.draw(0))
    return run


def ours(run: Run) -> Timed:
    """Return what is timed of ours."""
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
    """Return ours and the official one, with the same weights and instances."""
    config = resolve(
        solver=name,
        problem=problem,
        method="fine-tuning",
        preset="paper",
        images=False,  # INViT's eight; the official step has none either
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


def row(turns: list[Repetition], genuine: bool) -> tuple[str, float]:
    """Return medians as text, and the ratio to judge by."""
    mine = statistics.median(turn.ours for turn in turns)
    theirs = statistics.median(turn.official for turn in turns)
    search = statistics.median(turn.search for turn in turns)
    rest = statistics.median(turn.official - turn.search for turn in turns) / mine
    pairs = torch.tensor([turn.official / turn.ours for turn in turns])
    low, high = pairs.quantile(0.25).item(), pairs.quantile(0.75).item()
    text = f"{mine:8.3f} {theirs:9.3f} {theirs / mine:6.2f} {low:5.2f}-{high:5.2f}"
    text += f" {search:6.3f} {rest:8.2f}" if search else " " * 16
    return text, theirs / mine if genuine else rest


def missing(name: str) -> bool:
    """Tell whether the official code is not here, and say so."""
    upstream = UPSTREAM[name]
    absent = not present(place(upstream))
    if absent:
        print(f"{name}: no official code; `lifelong-co upstream fetch {upstream}` brings it")
    return absent


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--solvers", nargs="+", choices=UPSTREAM, default=list(UPSTREAM))
    parser.add_argument("--problems", nargs="+", choices=("tsp", "cvrp"), default=["tsp", "cvrp"])
    parser.add_argument("--sizes", nargs="+", type=int, choices=BATCH, default=list(BATCH))
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
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
    repeats, sizes = (1, [6]) if options.smoke else (options.repeats, options.sizes)
    print(f"seconds, medians of {repeats}, {options.threads} threads")
    if "invit" in solvers:
        print(f"nearest neighbors of INViT: {'torch_cluster' if search.genuine else 'a stand-in'}")
    print(HEADER)
    short = []
    for name, problem, n in product(solvers, options.problems, sizes):
        batch = 4 if options.smoke else (INVIT_ROWS if name == "invit" else BATCH)[n]
        mine, theirs = both(name, problem, n, batch)
        for what in ("rollout", "step"):  # in this order: steps part the weights
            pair = getattr(mine, what), getattr(theirs, what)
            if not options.smoke:
                repetition(*pair, search)  # warm up
            turns = [repetition(*pair, search) for _ in range(repeats)]
            text, ratio = row(turns, search.genuine)
            cell = f"{name:6} {problem:7} {n:3} {batch:3} {what:7}"
            print(f"{cell} {text} | {{:10.4f}} {{:9.4f}}".format(*turns[0].costs), flush=True)
            if ratio < TARGET[name]:
                short.append(f"{cell} {ratio:.2f}, wanted {TARGET[name]:.0f}")
    if not options.smoke:
        print("\n".join(("below target:", *short)) if short else "all as fast as wanted")


if __name__ == "__main__":
    main()
