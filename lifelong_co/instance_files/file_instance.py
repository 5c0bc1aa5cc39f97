"""One instance in the units of its file: its form for networks, distances and costs.

Networks get coordinates in the unit square. Costs are sums of distances that are rounded by the
rule in the file's EDGE_WEIGHT_TYPE (Reinelt 1995, *TSPLIB 95*, section 2), so they are exact
integers. With the rule UNROUNDED, as in Solomon's files, they are not rounded.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeGuard, cast, get_args

import attrs
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from lifelong_co.errors import ConfigError, LifelongError, UnknownNameError
from lifelong_co.instance_files.explicit_distances import unit_of
from lifelong_co.problems.cvrp import ROUNDING
from lifelong_co.protocols import Problem

DistanceRule = Literal["EUC_2D", "CEIL_2D", "FLOOR_2D", "EXACT_2D", "EXPLICIT", "UNROUNDED"]
RULES = get_args(DistanceRule)[:-1]
"""The rules that a TSPLIB or CVRPLIB file may name."""
THOUSANDTHS = 1000
"""The units of distance in one unit of the coordinates with the rule EXACT_2D."""
Actions = Sequence[int] | npt.NDArray[np.integer[Any]]
"""The order of visits, ``[T]``: TSP 0 … n - 1; CVRP 1 … n, and 0 for the depot."""
Numbers = npt.NDArray[np.int64] | npt.NDArray[np.float64]

# Above this capacity, one unit of demand is not clearly more than the tolerance of the masks.
_FINE_CAPACITY = round(0.5 / ROUNDING)  # 50,000


class InvalidSolutionError(LifelongError, ValueError):
    """A sequence of actions that does not solve the instance: the message says why."""


class Rules(Protocol):
    """What a file says besides coordinates, distances and loads, e.g. time windows."""

    def fields(self, side: float) -> Mapping[str, Tensor]:
        """Return the other fields, ``B = 1``; ``side`` in the file's units is 1 for the network."""

    def fault(self, route: Sequence[int], legs: Sequence[float]) -> str:
        """Return why a route is not allowed, or an empty text.

        ``route [k]`` has the customers (1 … n) between two visits to the depot, and
        ``legs [k + 1]`` the distances from the depot, between the customers, and to the depot.
        """


def _wide(values: Any) -> Any:
    """Return numbers with 64 bits, because differences and sums of narrow integers overflow."""
    if not _is_array(values, "iuf"):
        return values
    whole = values.dtype.kind != "f" and (values <= np.iinfo(np.int64).max).all()
    return values.astype(np.int64 if whole else np.float64, copy=False)


def _real(values: Any) -> Any:
    return values.astype(np.float64, copy=False) if _is_array(values, "iuf") else values


@attrs.frozen(eq=False)
class FileInstance:
    """One instance in the units of its file."""

    name: str
    problem: str
    coordinates: npt.NDArray[np.float64] = attrs.field(converter=_real)
    """``[A, 2]``, in file units, with the depot first, if there is one: ``A = n + 1``, else ``n``.
    ``[A, 0]`` if the file has no coordinates."""
    demand: npt.NDArray[np.int64] | None = attrs.field(converter=_wide)
    """``[n]``, of the customers, each in ``[0, capacity]``; None without a depot."""
    capacity: int | None
    """At least 1; None without a depot."""
    distance_rule: DistanceRule
    best_known: float | None = None
    """The least known cost, in file units; None if unknown."""
    weights: npt.NDArray[np.int64] | None = attrs.field(default=None, converter=_wide)
    """``[A, A]``: the distances that the file lists if the rule is EXPLICIT; otherwise None."""
    rules: Rules | None = None
    """What the routes must obey besides the capacity; None: nothing."""

    def __attrs_post_init__(self) -> None:
        if self.distance_rule not in get_args(DistanceRule):
            raise UnknownNameError("distance rule", str(self.distance_rule), get_args(DistanceRule))
        points, loads, most = self.coordinates, self.demand, self.capacity
        places = _is_array(points, "f") and points.ndim == 2 and points.shape[1] in (0, 2)
        if not places or not np.isfinite(points).all():
            raise self._wrong("coordinates: expected finite numbers [A, 2] or [A, 0]", points)
        self._check_weights(len(points))
        if loads is None or most is None:
            if self.rules is not None or (loads is None) != (most is None):
                raise self._wrong("expected demand and capacity beside each other and rules", loads)
        elif not isinstance(most, int | np.integer) or most < 1:
            raise self._wrong("capacity: expected an integer of at least 1", most)
        elif not _is_array(loads, "i") or loads.shape != (len(points) - 1,):
            raise self._wrong(f"demand: expected {len(points) - 1} integers", loads)
        elif len(loads) and not (loads.min() >= 0 and loads.max() <= most):
            raise self._wrong(f"demand: expected at most the capacity {most}, at least 0", loads)

    def _check_weights(self, nodes: int) -> None:
        listed = self.weights
        needed = self.distance_rule == "EXPLICIT" or not self.coordinates.shape[1]
        square = _is_array(listed, "if") and listed.shape == (nodes, nodes)
        finite = listed is not None and square and bool(np.isfinite(listed).all())
        if not finite and (needed or listed is not None):
            raise self._wrong(f"weights: expected finite distances [{nodes}, {nodes}]", listed)

    def _wrong(self, expected: str, got: object) -> ConfigError:
        return ConfigError(f"{self.name}: {expected}, got {got!r:.80}")

    @property
    def size(self) -> int:
        """The number ``n`` of nodes, without the depot."""
        return len(self.coordinates) - (self.demand is not None)

    @property
    def steps(self) -> float:
        """The units of distance in one unit of the coordinates; times and limits have those."""
        if self.weights is not None:
            return unit_of(self.weights, self.coordinates)
        return THOUSANDTHS if self.distance_rule == "EXACT_2D" else 1


def _is_array(thing: object, kinds: str) -> TypeGuard[npt.NDArray[Any]]:
    return isinstance(thing, np.ndarray) and thing.dtype.kind in kinds


def to_instances(file_instance: FileInstance, problem: Problem) -> Any:
    """Return the instance as a batch for networks, ``B = 1``.

    Parameters
    ----------
    file_instance
        The instance, in file units.
    problem
        The problem of the file; `ConfigError` if it is another one.

    Returns
    -------
    Float32 instances: coordinates shifted and divided by the longer side, so that they fill the
    unit square; demand in fractions of the capacity (`tightened`). A file without coordinates
    gives the field ``matrix [1, n, n]``, its distances divided by the largest one.
    """
    if problem.name != file_instance.problem:
        raise ConfigError(
            f"{file_instance.name}: expected an instance of {problem.name}, "
            f"got one of {file_instance.problem}"
        )
    if not file_instance.coordinates.shape[1]:
        scale = float(np.abs(distance_matrix(file_instance)).max()) or 1.0
        matrix = torch.as_tensor(distance_matrix(file_instance) / scale, dtype=torch.float32)
        return problem.instances(matrix=matrix[None])
    low = file_instance.coordinates.min(axis=0)
    side = float((file_instance.coordinates - low).max()) or 1.0  # 1: all nodes in one place
    unit = (file_instance.coordinates - low) / side
    points = torch.as_tensor(unit, dtype=torch.float32)[None]
    if file_instance.demand is None or file_instance.capacity is None:
        return problem.instances(nodes=points)
    fractions = tightened(file_instance.demand / file_instance.capacity, file_instance.capacity)
    demand = torch.as_tensor(fractions, dtype=torch.float32)[None]
    fields = {"depot": points[:, :1], "nodes": points[:, 1:], "demand": demand}
    others = file_instance.rules.fields(side * file_instance.steps) if file_instance.rules else {}
    return problem.instances(**{**fields, **others})


def tightened(
    fractions: npt.NDArray[np.float64], capacity: int | npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return whole loads, as fractions of the capacity, for networks.

    If the capacity is above 50,000, they are multiplied by ``1 + 2e-5``: otherwise the tolerance of
    the masks (`problems.cvrp.ROUNDING`) would let a route exceed the capacity by one unit.
    """
    fine = (np.asarray(capacity) > _FINE_CAPACITY) & (fractions <= 1)  # a larger one is refused
    return np.where(
        fine, np.minimum(fractions * (1 + 2 * ROUNDING), 1 + 0.99 * ROUNDING), fractions
    )


def distance_matrix(file_instance: FileInstance) -> Numbers:
    """Return the distances by the file's rule, ``[A, A]``, in file units; int64 if rounded."""
    if file_instance.weights is not None:
        return file_instance.weights
    points = file_instance.coordinates
    # Row by row: the floats of all pairs would take much more memory than the result.
    rows = [_lengths(file_instance.distance_rule, points - point) for point in points]
    return cast(Numbers, np.stack(rows))


def _lengths(rule: DistanceRule, legs: npt.NDArray[np.float64]) -> Numbers:
    """Return the lengths ``[k]`` of ``legs [k, 2]`` (TSPLIB 95, sections 2.1 and 2.7)."""
    # Not np.hypot: it may miss an exact root by one bit.
    length: npt.NDArray[np.float64] = np.sqrt(legs[:, 0] ** 2 + legs[:, 1] ** 2)
    match rule:
        case "UNROUNDED":
            return length
        case "CEIL_2D":
            whole = np.ceil(length)
        case "FLOOR_2D":
            whole = np.floor(length)
        case "EXACT_2D":  # a rule of CVRPLIB
            whole = np.floor(THOUSANDTHS * length + 0.5)
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


def legs(file_instance: FileInstance, actions: npt.NDArray[np.int64]) -> Numbers:
    """Return the distances ``[T]`` from each of ``actions [T]`` to the next, and to the first."""
    following = np.roll(actions, -1)
    if file_instance.weights is not None:
        return file_instance.weights[actions, following]
    points = file_instance.coordinates
    return _lengths(file_instance.distance_rule, points[actions] - points[following])


def cost(file_instance: FileInstance, actions: Actions) -> float:
    """Return the length of the closed route through ``actions [T]``, in file units.

    It includes the way from the last action back to the first. With a depot, 0 is the depot. It
    does not check that the actions solve the instance, only that they are nodes; see
    `solutions.check`. The result is an integer if the file's rule rounds distances.
    """
    total: float = legs(file_instance, visits(file_instance, actions)).sum().item()
    return total
