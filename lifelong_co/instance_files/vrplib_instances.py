"""Instances from TSPLIB and CVRPLIB files: reading, scaling for a network, costs in file units.

Networks get coordinates in the unit square. Costs are exact integers: sums of distances that are
rounded by the rule in the file's EDGE_WEIGHT_TYPE (Reinelt 1995, *TSPLIB 95*, section 2).
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, cast, get_args

import attrs
import numpy as np
import numpy.typing as npt
import torch

from lifelong_co.errors import ConfigError, LifelongError
from lifelong_co.instance_files.vrplib_parser import (
    Header,
    parse,
    read_text,
    refuse,
    scan,
    table,
    weights,
    where_explicit,
)
from lifelong_co.problems.cvrp import ROUNDING
from lifelong_co.protocols import Problem

DistanceRule = Literal["EUC_2D", "CEIL_2D", "FLOOR_2D", "EXACT_2D", "EXPLICIT"]
RULES = get_args(DistanceRule)
Actions = Sequence[int] | npt.NDArray[np.integer[Any]]
"""The order of visits, ``[T]``: TSP 0 … n - 1; CVRP 1 … n, and 0 for the depot."""

# "(Augerat et al, No of trucks: 5, Optimal value: 784)"; without the colon "optimal 3-opt" fits.
_BEST = re.compile(
    r"\b(?:optimal|optimum|best)(?:[ -]known)?(?:[ -](?:value|cost|solution|tour|length))?"
    r"\s*[:=]\s*(\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
# Above this capacity, one unit of demand is not clearly more than the tolerance of the masks.
_FINE_CAPACITY = round(0.5 / ROUNDING)  # 50,000


class InvalidSolutionError(LifelongError, ValueError):
    """A sequence of actions that does not solve the instance: the message says why."""


@attrs.frozen(eq=False)
class FileInstance:
    """One instance in the units of its file."""

    name: str
    problem: Literal["tsp", "cvrp"]
    coordinates: npt.NDArray[np.float64]
    """``[A, 2]``, in file units. TSP: ``A = n``. CVRP: ``A = n + 1``, with the depot first."""
    demand: npt.NDArray[np.int64] | None
    """``[n]``, of the customers, each in ``[0, capacity]``; None for the TSP."""
    capacity: int | None
    """At least 1; None for the TSP."""
    distance_rule: DistanceRule
    best_known: float | None = None
    """The least known cost, in file units; None if unknown."""
    weights: npt.NDArray[np.int64] | None = None
    """``[A, A]``: the distances that the file lists if the rule is EXPLICIT; otherwise None."""

    @property
    def size(self) -> int:
        """The number ``n`` of nodes (TSP) or customers (CVRP)."""
        return len(self.coordinates) - (self.problem == "cvrp")


def read_instance(path: str | os.PathLike[str], *, best_known: float | None = None) -> FileInstance:
    """Read a TSPLIB (TYPE TSP) or CVRPLIB (TYPE CVRP) file.

    Parameters
    ----------
    path
        The file. Its TYPE decides the problem, not its name.
    best_known
        The least known cost; by default the optimal value in the file's COMMENT, if any.

    Raises
    ------
    FileFormatError
        If the file is missing, truncated or inconsistent, or needs something unsupported: other
        distance rules, EXPLICIT distances without symmetry or without coordinates (which networks
        need), limits on the length of routes, a depot that is not node 1.
    """
    text = read_text(path)
    header = scan(path, text)
    kind = header.value("TYPE").split()[0].upper()
    if kind not in ("TSP", "CVRP"):
        raise refuse(path, f"TYPE: expected TSP or CVRP, got {kind}")
    rule = header.value("EDGE_WEIGHT_TYPE").upper()
    if rule not in RULES:
        expected = f"{', '.join(RULES[:-1])} or {RULES[-1]}"
        raise refuse(path, f"EDGE_WEIGHT_TYPE: {rule} is not supported; expected {expected}")
    _refuse_constraints(header, kind)
    section = where_explicit(header) if rule == "EXPLICIT" else "NODE_COORD"
    count = header.whole("DIMENSION", least=2 if kind == "TSP" else 3)
    parsed = parse(header, text)
    coordinates = table(header, parsed, section, 2, count)
    demand, capacity = _load(header, parsed, count) if kind == "CVRP" else (None, None)
    return FileInstance(
        name=header.values.get("NAME") or Path(path).stem,
        problem="tsp" if kind == "TSP" else "cvrp",
        coordinates=coordinates,
        demand=demand,
        capacity=capacity,
        distance_rule=cast(DistanceRule, rule),
        best_known=_stated_best(header.comment) if best_known is None else best_known,
        weights=weights(header, parsed, count) if rule == "EXPLICIT" else None,
    )


def _refuse_constraints(header: Header, kind: str) -> None:
    """Refuse sections with constraints that no solver here obeys, e.g. fixed edges."""
    of_cvrp = {"DEMAND", "DEPOT"} if kind == "CVRP" else set()
    known = {"NODE_COORD", "DISPLAY_DATA", "EDGE_WEIGHT"} | of_cvrp
    names = [f"{name}_SECTION" for name in header.ids if name not in known]
    names += [name for name in ("DISTANCE", "SERVICE_TIME") if name in header.values]
    if names:
        raise refuse(header.path, f"{names[0]}: not supported for TYPE {kind}")


def _load(header: Header, parsed: dict[str, Any], count: int) -> tuple[npt.NDArray[np.int64], int]:
    """Return the customers' demand ``[n]`` and the capacity."""
    capacity = header.whole("CAPACITY", least=1)
    demand = table(header, parsed, "DEMAND", 1, count)[:, 0]
    bad = np.flatnonzero((demand != np.floor(demand)) | (demand < 0) | (demand > capacity))
    if bad.size:
        raise refuse(
            header.path,
            f"DEMAND_SECTION: expected whole numbers from 0 to the CAPACITY {capacity}, "
            f"got {demand[bad[0]]:.12g} at node {bad[0] + 1}",
        )
    depots = [name for name in header.ids.get("DEPOT", []) if name != "-1"]
    if depots != ["1"]:
        raise refuse(
            header.path,
            "DEPOT_SECTION: expected the one depot 1, as in every CVRPLIB file, "
            f"got {', '.join(depots) or 'none'}",
        )
    if demand[0] != 0:
        raise refuse(header.path, f"DEMAND_SECTION: expected 0 at the depot, got {demand[0]:.12g}")
    return demand[1:].astype(np.int64), capacity


def _stated_best(comment: str) -> float | None:
    """Return the best cost in a COMMENT, or None."""
    found = _BEST.search(comment)
    # A fractional cost belongs to distances without rounding, so it is not comparable.
    return float(found[1]) if found and float(found[1]).is_integer() else None


def to_instances(file_instance: FileInstance, problem: Problem) -> Any:
    """Return the instance as a batch for networks, ``B = 1``.

    Parameters
    ----------
    file_instance
        The instance, in file units.
    problem
        The TSP or the CVRP, as in the file; `ConfigError` if it is another one.

    Returns
    -------
    Float32 instances: coordinates shifted and divided by the longer side, so that they fill the
    unit square; demand in fractions of the capacity. If the capacity is above 50,000, the fractions
    are multiplied by ``1 + 2e-5``: otherwise the tolerance of the masks (`problems.cvrp.ROUNDING`)
    would let a route exceed the capacity by one unit.
    """
    if problem.name != file_instance.problem:
        raise ConfigError(
            f"{file_instance.name}: expected an instance of {problem.name}, "
            f"got one of {file_instance.problem}"
        )
    low = file_instance.coordinates.min(axis=0)
    side = float((file_instance.coordinates - low).max()) or 1.0  # 1: all nodes in one place
    unit = (file_instance.coordinates - low) / side
    points = torch.as_tensor(unit, dtype=torch.float32)[None]
    if file_instance.demand is None or file_instance.capacity is None:
        return problem.instances(nodes=points)
    fractions = file_instance.demand / file_instance.capacity
    if file_instance.capacity > _FINE_CAPACITY:
        fractions = np.minimum(fractions * (1 + 2 * ROUNDING), 1 + 0.99 * ROUNDING)
    demand = torch.as_tensor(fractions, dtype=torch.float32)[None]
    return problem.instances(depot=points[:, :1], nodes=points[:, 1:], demand=demand)


def distance_matrix(file_instance: FileInstance) -> npt.NDArray[np.int64]:
    """Return the distances by the file's rule, int64 ``[A, A]``, in file units."""
    if file_instance.weights is not None:
        return file_instance.weights
    points = file_instance.coordinates
    # Row by row: the floats of all pairs would take much more memory than the result.
    return np.stack([_rounded(file_instance.distance_rule, points - point) for point in points])


def _rounded(rule: DistanceRule, legs: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the rounded lengths ``[k]`` of ``legs [k, 2]`` (TSPLIB 95, sections 2.1 and 2.7)."""
    # Not np.hypot: it may miss an exact root by one bit.
    length = np.sqrt(legs[:, 0] ** 2 + legs[:, 1] ** 2)
    match rule:
        case "CEIL_2D":
            whole = np.ceil(length)
        case "FLOOR_2D":
            whole = np.floor(length)
        case "EXACT_2D":  # a rule of CVRPLIB: thousandths
            whole = np.floor(1000 * length + 0.5)
        case _:
            whole = np.floor(length + 0.5)
    return whole.astype(np.int64)


def visits(file_instance: FileInstance, actions: Actions) -> npt.NDArray[np.int64]:
    """Return ``actions`` as int64 ``[T]``; raise `InvalidSolutionError` if one is not a node."""
    last = len(file_instance.coordinates) - 1
    try:
        sequence = np.asarray(actions)
    except (ValueError, TypeError) as error:  # lists of unequal length; tensors on another device
        raise InvalidSolutionError(
            f"actions: expected one sequence of integers, got {type(actions).__name__} ({error})"
        ) from error
    if sequence.ndim != 1 or not (np.issubdtype(sequence.dtype, np.integer) or not sequence.size):
        raise InvalidSolutionError(
            f"actions: expected one sequence of integers, got {sequence.dtype} "
            f"of shape {list(sequence.shape)}"
        )
    outside = sequence[(sequence < 0) | (sequence > last)]
    if outside.size:
        raise InvalidSolutionError(f"actions: expected 0 to {last}, got {outside[0]}")
    return sequence.astype(np.int64)


def cost(file_instance: FileInstance, actions: Actions) -> int:
    """Return the length of the closed route through ``actions [T]``, in file units.

    It includes the way from the last action back to the first. For the CVRP 0 is the depot. It does
    not check that the actions solve the instance, only that they are nodes; see `solutions.check`.
    """
    sequence = visits(file_instance, actions)
    if file_instance.weights is not None:
        return int(file_instance.weights[sequence, np.roll(sequence, -1)].sum())
    points = file_instance.coordinates[sequence]
    legs = points - np.roll(points, -1, axis=0)
    return int(_rounded(file_instance.distance_rule, legs).sum())
