"""Invented instances, their reference costs, and files of them as they are published."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from lifelong_co import registry
from lifelong_co.experiments.references import batch, gaps
from lifelong_co.experiments.references.places import Places
from lifelong_co.experiments.references.subject import of_instances
from lifelong_co.reference_solvers.contract import Settings
from lifelong_co.tasks import instances as streams
from lifelong_co.tasks.task import Task
from lifelong_co.tensors import records

TSP = registry.problem("tsp")
CVRP = registry.problem("cvrp")
SETTINGS = Settings()
MEANS = {"E20": 10.0, "U10": 6.0}
OWN, THEIRS = Path("own"), Path("theirs")
FOUND = gaps.MeanReferences(
    Places(OWN, (THEIRS,)), MEANS, {"E20": (OWN, THEIRS), "U10": (OWN, THEIRS)}
)


def lay(
    folder: Path, task: Task, tests: int, cost: float | Sequence[float], problem: str = "cvrp"
) -> Path:
    """Write a file with one cost, or one each, for the test instances of a task; return it."""
    (group,) = streams.testing(task, registry.problem(problem), tests)
    fields = {name: tensor.numpy() for name, tensor in records.tensors(group).items()}
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{problem}-{task.distribution}{task.size}.npz"
    np.savez(file, reference_cost=np.full(tests, cost), **fields)
    return file


def squares(count=3):
    """Return TSP instances of four corners, of side 1, 1/2, 1/3, …."""
    corners = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    return TSP.instances(nodes=torch.stack([corners / (b + 1) for b in range(count)]))


def find(cache, count=3, **options):
    """Return what `batch.find` yields for squares, by name."""
    subjects = of_instances(squares(count), TSP, "S")
    return {s.name: (r, new) for s, r, new in batch.find(subjects, cache, SETTINGS, **options)}


def published(folder, costs):
    """Write squares with reference costs as the official test sets are stored."""
    made = squares(len(costs))
    np.savez(folder / "tsp-U4.npz", nodes=made.nodes.numpy(), reference_cost=np.array(costs))
    return made


def tsp(size, seed=0):
    """Return one subject of random nodes."""
    nodes = torch.rand(1, size, 2, generator=torch.Generator().manual_seed(seed))
    return of_instances(TSP.instances(nodes=nodes), TSP, "T")[0]


def cvrp(size, seed=0, capacity=20):
    """Return one subject of random customers with demands 1 to 9."""
    draw = torch.Generator().manual_seed(seed)
    places = torch.rand(1, size + 1, 2, generator=draw)
    units = torch.randint(1, 10, (1, size), generator=draw)
    made = CVRP.instances(depot=places[:, :1], nodes=places[:, 1:], demand=units / capacity)
    return of_instances(made, CVRP, "V")[0]
