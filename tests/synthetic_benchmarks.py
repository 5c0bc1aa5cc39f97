"""Instances, small networks and invented results of a benchmark."""

import numpy as np
import torch
from tiny_runs import MODEL

from lifelong_co import registry
from lifelong_co.experiments.benchmark.conduct import Entrant, How, conduct
from lifelong_co.experiments.benchmark.known import as_now
from lifelong_co.experiments.benchmark.results import Result
from lifelong_co.instance_files.file_instance import FileInstance


def drawn(name, size=7, seed=0):
    """Return a TSP of random whole coordinates."""
    points = np.random.default_rng(seed).integers(0, 1000, (size, 2)).astype(float)
    return FileInstance(name, "tsp", points, None, None, "EUC_2D")


def entrant(label="one", weights="w", seed=0):
    """Return a small untrained network."""
    torch.manual_seed(seed)
    solver = registry.solver("pomo", "tsp", **MODEL)
    solver.module.eval()
    return Entrant(label, solver, weights)


INSTANCES = [drawn("a"), drawn("b", 7, 1), drawn("c", 8), drawn("d", 7, 2)]


def go(instances, entrants, done=(), **how):
    """Conduct a benchmark; return the results, what was solved, and the other lines of the log.

    What is kept has the best cost known when it was solved, and also those of other files; what is
    returned has the best cost known now.
    """
    logged, kept = [], []
    found = conduct(instances, entrants, done, How(**how), keep=kept.append, log=logged.append)
    names = [one.name for one in instances]
    assert as_now([one for one in kept[-1] if one.instance in names], instances) == found
    solved = [line.split(": cost")[0] for line in logged if ": cost" in line]
    return found, solved, [line for line in logged if ": cost" not in line]


def made():
    """Return results of two checkpoints on three instances, one of unknown optimum."""
    values = {"a": (100, 110, 120), "b": (200, 220, 210), "c": (None, 50, 60)}
    return [
        Result(name, 9, best, label, cost, cost - 0.5, 1.0)
        for name, (best, *costs) in values.items()
        for label, cost in zip(("one", "two"), costs, strict=True)
    ]


def solved(best=100.0, **more):
    """Return results of two checkpoints on one instance."""
    return [
        Result("a", 9, best, "one", 110, 109.5, 1.0, **more),
        Result("a", 9, best, "two", 120, 119.5, 1.0, **more),
    ]
