"""One instance to find a reference for: in integers for the solvers, in original units for costs.

An instance of a test set costs what `protocols.Problem.cost` says, in float64; one of a TSPLIB or
CVRPLIB file what the rounding rule of the file says. The key is a hash of the contents, so that
the same instance from any source finds the same reference.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import torch

from lifelong_co.instance_files.solutions import check as check_solution
from lifelong_co.instance_files.vrplib_instances import (
    FileInstance,
    InvalidSolutionError,
    distance_matrix,
)
from lifelong_co.instance_files.vrplib_instances import cost as file_cost
from lifelong_co.problems.cvrp import ROUNDING
from lifelong_co.problems.distances import EUCLIDEAN, EXPONENTS
from lifelong_co.protocols import Problem
from lifelong_co.tensors import records

# Integer steps of one unit of length: rounding costs a route of 100 legs 5e-5 at the very most.
STEPS = 1_000_000
# The greatest capacity that fractional demands are first read as whole parts of.
LARGEST_CAPACITY = 1_000
# Steps of all other demands; the slack stays within the tolerance of the masks.
FINE = 100_000_000

Integers = npt.NDArray[np.int64]


@attrs.frozen(eq=False)
class Model:
    """What a solver sees, in integers."""

    distances: Integers
    """``[A, A]``, symmetric; the depot first for the CVRP."""
    demand: Integers | None = None
    """``[n]`` of the customers; None for the TSP."""
    capacity: int | None = None


@attrs.frozen(eq=False)
class Subject:
    """An instance of any source."""

    name: str
    """For people, e.g. ``GM100 #679``."""
    key: str
    """64 hexadecimal digits."""
    problem: str
    size: int
    model: Callable[[], Model]
    cost: Callable[[Sequence[int]], float]
    """Of actions ``[T]``, in the instance's own units."""
    fault: Callable[[Sequence[int]], str]
    """Why actions do not solve the instance; empty if they do."""


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
        p = getattr(exact, "distance", None)  # of another problem there may be none
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
    """Return demand ``[n]`` and capacity in integers for demand in fractions of the capacity.

    The least capacity up to 1,000 of which all are whole parts, to single precision; else
    fractions of 1e8, with half the tolerance of the masks, `problems.cvrp.ROUNDING`, as slack.
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
    """Return the subject of a TSPLIB or CVRPLIB instance, in the file's own rounded distances."""
    parts = [instance.distance_rule, instance.problem, str(instance.capacity)]
    digest = hashlib.sha256(f"lifelong-co file 1 {' '.join(parts)}\n".encode())
    digest.update((instance.coordinates + 0.0).astype("<f8").tobytes())
    if instance.weights is not None:
        digest.update(instance.weights.astype("<i8").tobytes())
    if instance.demand is not None:
        digest.update(instance.demand.astype("<i8").tobytes())

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
        model=lambda: Model(distance_matrix(instance), instance.demand, instance.capacity),
        cost=lambda actions: float(file_cost(instance, actions)),
        fault=fault,
    )
