"""An instance that needs a reference: in integers for the solvers, in original units for costs.

For an instance of a test set, the cost is `protocols.Problem.cost` in float64. For a TSPLIB or
CVRPLIB file, it follows the rounding rule of the file. The key is a hash of the contents, so that
the same instance has the same key and reference in all sources.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import torch

from lifelong_co.instance_files.file_instance import (
    FileInstance,
    InvalidSolutionError,
    Numbers,
    distance_matrix,
)
from lifelong_co.instance_files.file_instance import cost as file_cost
from lifelong_co.instance_files.solutions import check as check_solution
from lifelong_co.problems.cvrp import ROUNDING
from lifelong_co.problems.distances import EUCLIDEAN, EXPONENTS
from lifelong_co.protocols import Problem
from lifelong_co.tensors import records

# Integer steps of one unit of length: for a route of 100 legs the rounding error is at most 5e-5.
STEPS = 1_000_000
# The highest capacity for which demands are read as whole numbers.
LARGEST_CAPACITY = 1_000
# Integer steps of the capacity for all other demands.
FINE = 100_000_000

Integers = npt.NDArray[np.int64]


@attrs.frozen(eq=False)
class Model:
    """The instance in integers, as the solvers need it."""

    distances: Integers
    """``[A, A]``, symmetric; for the CVRP the depot comes first."""
    demand: Integers | None = None
    """``[n]`` of the customers; None for the TSP."""
    capacity: int | None = None


@attrs.frozen(eq=False)
class Subject:
    """An instance from any source."""

    name: str
    """To be read by people, e.g. ``GM100 #679``."""
    key: str
    """Hash of the contents, 64 hexadecimal digits."""
    problem: str
    size: int
    """Number of nodes ``n``."""
    model: Callable[[], Model]
    """Returns the instance in integers."""
    cost: Callable[[Sequence[int]], float]
    """Returns the cost of actions ``[T]``, in the units of the instance."""
    fault: Callable[[Sequence[int]], str]
    """Returns why actions ``[T]`` do not solve the instance; empty if they do."""


def of_instances(instances: Any, problem: Problem, name: str) -> list[Subject]:
    """Return a subject for each of ``B`` instances, named ``name #0``, ``name #1`` and so on."""
    keys = keys_of(instances, problem)
    return [
        _of_row(records.select(instances, slice(b, b + 1)), problem, f"{name} #{b}", key)
        for b, key in enumerate(keys)
    ]


def keys_of(instances: Any, problem: Problem) -> list[str]:
    """Return the key of each of ``B`` instances: a hash of its float32 values."""
    columns = {
        name: (tensor.detach().cpu().to(torch.float32) + 0.0).numpy()  # -0 and 0 are one
        for name, tensor in sorted(records.tensors(instances).items())
    }
    keys = []
    for b in range(records.rows(instances)):
        digest = hashlib.sha256(f"lifelong-co instance 1 {problem.name}".encode())
        for name, column in columns.items():
            digest.update(f"\n{name} {list(column[b].shape)}\n".encode())
            digest.update(column[b].astype("<f4").tobytes())
        keys.append(digest.hexdigest())
    return keys


def _of_row(row: Any, problem: Problem, name: str, key: str) -> Subject:
    exact = records.transform(row, lambda tensor: tensor.detach().cpu().double())

    def model() -> Model:
        demand = getattr(exact, "demand", None)
        points = exact.nodes if demand is None else torch.cat((exact.depot, exact.nodes), dim=1)
        p = getattr(exact, "distance", None)  # a third-party problem may have no distances
        power = EXPONENTS[EUCLIDEAN] if p is None else float(p[0])
        lengths = torch.cdist(points[0], points[0], power, compute_mode=_EXACT)
        distances = np.rint(lengths.numpy() * STEPS)
        loads = (None, None) if demand is None else whole_demand(demand[0].numpy())
        return Model(distances.astype(np.int64), *loads)

    def cost(actions: Sequence[int]) -> float:
        return float(problem.cost(exact, torch.tensor(actions).view(1, 1, -1)))

    def fault(actions: Sequence[int]) -> str:
        demand = getattr(exact, "demand", None)
        return _fault(actions, problem.size(exact), None if demand is None else demand[0].numpy())

    return Subject(name, key, problem.name, problem.size(row), model, cost, fault)


_EXACT = "donot_use_mm_for_euclid_dist"


def whole_demand(fractions: npt.NDArray[np.float64]) -> tuple[Integers, int]:
    """Return demand ``[n]`` and capacity in integers, from demand in fractions of the capacity.

    The capacity is the lowest one up to 1,000 for which all demands are whole numbers in single
    precision. If there is none, it is 1e8 plus half the tolerance `problems.cvrp.ROUNDING`.
    """
    for capacity in range(1, LARGEST_CAPACITY + 1):
        units = fractions * capacity
        if np.abs(units - np.rint(units)).max() <= 2e-7 * capacity:
            return np.rint(units).astype(np.int64), capacity
    return np.rint(fractions * FINE).astype(np.int64), round(FINE * (1 + ROUNDING / 2))


def _fault(actions: Sequence[int], size: int, demand: npt.NDArray[np.float64] | None) -> str:
    """Check a solution of a test instance: each node once, no load above the capacity."""
    first = 0 if demand is None else 1
    outside = [action for action in actions if not 0 <= action < size + first]
    if outside:
        return f"expected nodes 0 to {size + first - 1}, got {outside[0]}"
    counts = np.bincount(np.asarray(actions, dtype=np.int64), minlength=size + first)[first:]
    wrong = np.flatnonzero(counts != 1)
    if wrong.size:
        return f"visits node {wrong[0] + first} {counts[wrong[0]]} times"
    if demand is None:
        return ""
    if actions[0] != 0 or actions[-1] != 0:
        return "does not start and end at the depot"
    load = 0.0
    for action in actions:
        load = 0.0 if action == 0 else load + float(demand[action - 1])
        if load > 1 + ROUNDING:
            return f"a route carries {load:.4g} times the capacity"
    return ""


def of_file(instance: FileInstance) -> Subject:
    """Return the subject of a TSPLIB or CVRPLIB instance, with distances rounded as in the file."""
    parts = [instance.distance_rule, instance.problem, str(instance.capacity)]
    digest = hashlib.sha256(f"lifelong-co file 1 {' '.join(parts)}\n".encode())
    digest.update((instance.coordinates + 0.0).astype("<f8").tobytes())
    if instance.weights is not None:
        digest.update(instance.weights.astype("<i8").tobytes())
    if instance.demand is not None:
        digest.update(instance.demand.astype("<i8").tobytes())
    fields = instance.rules.fields(1.0) if instance.rules is not None else {}
    for name, tensor in sorted(fields.items()):
        digest.update(f"\n{name}\n".encode() + tensor.numpy().astype("<f4").tobytes())

    def fault(actions: Sequence[int]) -> str:
        try:
            check_solution(instance, actions)
        except InvalidSolutionError as error:
            return str(error)
        return ""

    return Subject(
        name=instance.name,
        key=digest.hexdigest(),
        problem=instance.problem,
        size=instance.size,
        model=lambda: Model(_whole(distance_matrix(instance)), instance.demand, instance.capacity),
        cost=lambda actions: float(file_cost(instance, actions)),
        fault=fault,
    )


def _whole(distances: Numbers) -> Integers:
    """Return distances in integers; those that are not rounded in millionths."""
    if np.issubdtype(distances.dtype, np.integer):
        return distances.astype(np.int64)
    return np.rint(distances * STEPS).astype(np.int64)
