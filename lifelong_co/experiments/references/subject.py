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
from torch import Tensor

from lifelong_co import registry
from lifelong_co.experiments.references.file_models import model_of_file
from lifelong_co.instance_files.file_instance import FileInstance, InvalidSolutionError, Rules
from lifelong_co.instance_files.file_instance import cost as file_cost
from lifelong_co.instance_files.route_rules import TimeWindows
from lifelong_co.instance_files.solutions import check as check_solution
from lifelong_co.protocols import Problem
from lifelong_co.reference_solvers.contract import ReferenceModel
from lifelong_co.rollout.verification import fault
from lifelong_co.tensors import records


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
    model: Callable[[], ReferenceModel]
    """Returns the instance in the form that solvers need."""
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
    """Return the key of each of ``B`` instances: a hash of its values, reals in float32.

    A value that says no more than a missing field (`records.ABSENT`) does not count: an instance
    gets it when it is joined with others.
    """
    fields = attrs.fields(type(instances))
    absent = {field.name: field.metadata.get(records.ABSENT) for field in fields}
    columns = {
        name: _column(tensor.detach().cpu())
        for name, tensor in sorted(records.tensors(instances).items())
    }
    keys = []
    for b in range(records.rows(instances)):
        digest = hashlib.sha256(f"lifelong-co instance 1 {problem.name}".encode())
        for name, column in columns.items():
            if absent[name] is None or (column[b] != absent[name]).any():
                digest.update(f"\n{name} {list(column[b].shape)}\n".encode())
                digest.update(column[b].tobytes())
        keys.append(digest.hexdigest())
    return keys


def _column(tensor: Tensor) -> npt.NDArray[Any]:
    """Return values in the bytes of every machine; other numbers than reals are whole."""
    if not tensor.is_floating_point():
        return tensor.to(torch.int64).numpy().astype("<i8")
    return (tensor.to(torch.float32) + 0.0).numpy().astype("<f4")  # -0 and 0 are one


def exactly(tensor: Tensor) -> Tensor:
    """Return reals in float64 on the CPU; what is whole or true stays so."""
    here = tensor.detach().cpu()
    return here.double() if here.is_floating_point() else here


def _of_row(row: Any, problem: Problem, name: str, key: str) -> Subject:
    exact = records.transform(row, exactly)

    def cost(actions: Sequence[int]) -> float:
        return float(problem.cost(exact, torch.tensor(actions).view(1, 1, -1)))

    return Subject(
        name=name,
        key=key,
        problem=problem.name,
        size=problem.size(row),
        model=lambda: registry.reference_model(problem.name)(exact),
        cost=cost,
        fault=lambda actions: fault(problem, exact, actions),
    )


def _contents(rules: Rules | None) -> dict[str, npt.NDArray[Any]]:
    """Return what rules say: what networks get, and the times of the file if these are others."""
    fields = {} if rules is None else rules.fields(1.0)
    found = {name: tensor.numpy().astype("<f4") for name, tensor in fields.items()}
    if isinstance(rules, TimeWindows) and rules.relaxed:
        found |= {"ready": rules.ready.astype("<f8"), "due": rules.due.astype("<f8")}
    return found


def of_file(instance: FileInstance) -> Subject:
    """Return the subject of a TSPLIB or CVRPLIB instance, with distances rounded as in the file."""
    parts = [instance.distance_rule, instance.problem, str(instance.capacity)]
    digest = hashlib.sha256(f"lifelong-co file 1 {' '.join(parts)}\n".encode())
    digest.update((instance.coordinates + 0.0).astype("<f8").tobytes())
    if instance.weights is not None:
        whole = np.issubdtype(instance.weights.dtype, np.integer)
        digest.update(instance.weights.astype("<i8" if whole else "<f8").tobytes())
    if instance.demand is not None:
        digest.update(instance.demand.astype("<i8").tobytes())
    for name, value in sorted(_contents(instance.rules).items()):
        digest.update(f"\n{name}\n".encode() + value.tobytes())

    def fault_in_file(actions: Sequence[int]) -> str:
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
        model=lambda: model_of_file(instance),
        cost=lambda actions: float(file_cost(instance, actions)),
        fault=fault_in_file,
    )
