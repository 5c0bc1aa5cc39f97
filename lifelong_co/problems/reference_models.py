"""The TSP, the ATSP and the CVRP as PyVRP and OR-Tools solve them: models in integers.

Distances are in millionths, so "proven" means optimal for distances rounded to a millionth.
"""

import time
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from lifelong_co.problems.atsp import ATSPInstances
from lifelong_co.problems.cvrp import ROUNDING, CVRPInstances
from lifelong_co.problems.distances import EUCLIDEAN, EXPONENTS
from lifelong_co.problems.tsp import TSPInstances
from lifelong_co.reference_solvers.contract import STEPS, Found, Settings
from lifelong_co.reference_solvers.exact import shortest_circuit
from lifelong_co.reference_solvers.heuristic import Penalties, search
from lifelong_co.reference_solvers.packages import optional, version

# The highest capacity for which demands are read as whole numbers.
LARGEST_CAPACITY = 1_000
# Integer steps of the capacity for all other demands.
FINE = 100_000_000

Integers = npt.NDArray[np.int64]


@attrs.frozen(eq=False)
class TourModel:
    """A TSP or an ATSP in integers."""

    distances: Integers
    """``[n, n]``, from the row's node to the column's."""

    def solve(self, settings: Settings) -> Found | None:
        """Return the shortest tour found.

        PyVRP solves it as a CVRP with one vehicle. Then, with at most ``prove`` nodes, CP-SAT
        starts from PyVRP's tour, and the better tour is kept.
        """
        begin = time.perf_counter()
        n, solver, proven = len(self.distances), "pyvrp", False
        follows = n <= settings.prove
        actions = list(range(n))
        if not self._trivial():
            restarts = 1 if follows else settings.restarts
            routes = search(self.data(), settings, restarts=restarts)
            if routes is None:
                return None
            actions = [0, *routes[0]]
        if follows:
            tour, proven = self._proven(actions, settings)
            if proven or length(self.distances, tour) < length(self.distances, actions):
                actions, solver = tour, "ortools"
        return found(actions, proven, solver, settings, begin)

    def data(self) -> Any:
        """Return PyVRP's form of the instance: one vehicle that starts at node 0."""
        return _data(self.distances)

    def _trivial(self) -> bool:
        """Return whether all tours have one length."""
        n = len(self.distances)
        return n <= 2 or (n == 3 and np.array_equal(self.distances, self.distances.T))

    def _proven(self, hint: list[int], settings: Settings) -> tuple[list[int], bool]:
        n = len(self.distances)
        if self._trivial():
            return hint, True
        arcs = {(i, j): int(self.distances[i, j]) for i in range(n) for j in range(n) if i != j}
        circuit = shortest_circuit(arcs, hint, seconds=settings.seconds)
        return circuit.actions, circuit.proven


@attrs.frozen(eq=False)
class RouteModel:
    """A CVRP in integers."""

    distances: Integers
    """``[n + 1, n + 1]``, symmetric; the depot comes first."""
    demand: Integers
    """``[n]`` of the customers."""
    capacity: int

    def solve(self, settings: Settings) -> Found | None:
        """Return the best solution of PyVRP's searches."""
        begin = time.perf_counter()
        unit = max(float(self.distances.mean()), 1.0) / max(float(self.demand.mean()), 1e-9)
        penalties = Penalties(unit, 4 * max(float(self.distances.max()), 1.0))
        routes = search(self.data(), settings, restarts=settings.restarts, penalties=penalties)
        if routes is None:
            return None
        actions = [node for route in routes for node in (0, *route)] + [0]
        return found(actions, False, "pyvrp", settings, begin)

    def data(self) -> Any:
        """Return PyVRP's form of the instance."""
        return _data(self.distances, self.demand, self.capacity)


def tour_model(instances: TSPInstances) -> TourModel:
    """Return the model of one instance, float64 on the CPU."""
    return TourModel(_distances(instances.nodes, instances.distance))


def route_model(instances: CVRPInstances) -> RouteModel:
    """Return the model of one instance, float64 on the CPU."""
    points = torch.cat((instances.depot, instances.nodes), dim=1)
    distances = _distances(points, instances.distance)
    return RouteModel(distances, *whole_demand(instances.demand[0].numpy()))


def matrix_model(instances: ATSPInstances) -> TourModel:
    """Return the model of one instance, float64 on the CPU."""
    return TourModel(np.rint(instances.matrix[0].numpy() * STEPS).astype(np.int64))


def length(distances: Integers, actions: list[int]) -> int:
    """Return the length of the closed route through ``actions [T]``."""
    return int(distances[actions, [*actions[1:], actions[0]]].sum())


def whole_demand(fractions: npt.NDArray[np.float64]) -> tuple[Integers, int]:
    """Return demand ``[n]`` and capacity in integers, from demand in fractions of the capacity.

    The capacity is the lowest one up to 1,000 for which all demands are whole numbers in single
    precision. If there is none, it is 1e8 plus half the tolerance `problems.cvrp.ROUNDING`,
    or the largest demand.
    """
    for capacity in range(1, LARGEST_CAPACITY + 1):
        units = fractions * capacity
        if np.abs(units - np.rint(units)).max() <= 2e-7 * capacity:
            return np.rint(units).astype(np.int64), capacity
    whole: Integers = np.rint(fractions * FINE).astype(np.int64)
    return whole, max(round(FINE * (1 + ROUNDING / 2)), int(whole.max()))


def _distances(points: Tensor, p: Tensor | None) -> Integers:
    """Return distances ``[A, A]`` in steps from points ``[1, A, 2]`` and exponents ``[1]``."""
    power = EXPONENTS[EUCLIDEAN] if p is None else float(p[0])
    exact = "donot_use_mm_for_euclid_dist"
    lengths = torch.cdist(points[0], points[0], power, compute_mode=exact)
    steps: Integers = np.rint(lengths.numpy() * STEPS).astype(np.int64)
    return steps


def found(actions: list[int], proven: bool, solver: str, settings: Settings, begin: float) -> Found:
    """Return a solution, with the seconds since ``begin`` (``time.perf_counter``)."""
    elapsed = round(time.perf_counter() - begin, 3)
    return Found(actions, proven, solver, version(solver), attrs.asdict(settings), elapsed)


def _data(distances: Integers, demand: Integers | None = None, capacity: int | None = None) -> Any:
    """Return PyVRP's form of an instance; a TSP has neither demand nor capacity."""
    make: dict[str, type] = vars(optional("pyvrp"))
    A = len(distances)
    loads = [[]] * A if demand is None else [[], *([int(d)] for d in demand)]
    vehicle = {} if capacity is None else {"capacity": [capacity]}
    return make["ProblemData"](
        locations=[make["Location"](0, 0) for _ in range(A)],
        clients=[make["Client"](location=i, delivery=loads[i]) for i in range(1, A)],
        depots=[make["Depot"](0)],
        vehicle_types=[
            make["VehicleType"](num_available=1 if demand is None else A - 1, **vehicle)
        ],
        distance_matrices=[distances],
        duration_matrices=[np.zeros_like(distances)],
    )
