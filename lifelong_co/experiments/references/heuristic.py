"""PyVRP: iterated local search for the CVRP, and for the TSP as a CVRP with one vehicle.

Source: Wouda, Lan and Kool (2024), *PyVRP: a high-performance VRP solver package*, INFORMS J.
Comput. 36(4); version 0.14 or newer. The result depends only on the seed, unless a time limit is
reached.
"""

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from lifelong_co.experiments.references.packages import optional
from lifelong_co.experiments.references.subject import Model

# The searches differ in the number of neighbors per node and in the first penalty of one unit of
# excess load (in mean distances over mean demands): on clusters no single choice is always best.
NEIGHBORS = (50, 20, 100)
PENALTIES = (1.0, 4.0)


def search(
    model: Model, *, iterations: int, restarts: int, seconds: float, seed: int
) -> list[int] | None:
    """Return the best actions ``[T]`` found, or None if no solution is feasible.

    Parameters
    ----------
    model
        A TSP or CVRP with at least two nodes or customers.
    iterations
        A search ends after this number of iterations without improvement.
    restarts
        Number of searches, with different seeds and settings: one often ends in a local optimum.
    seconds
        Time limit of all searches together.
    seed
        Seed of PyVRP's random stream in the first search.
    """
    pyvrp = optional("pyvrp")
    data = _data(pyvrp, model)
    deadline = time.monotonic() + seconds
    best = None
    for trial in range(restarts):
        found = _solve(
            pyvrp, data, model, trial, iterations=iterations, deadline=deadline, seed=seed
        )
        if found is not None and (best is None or found.cost() < best.cost()):
            best = found
    if best is None:
        return None
    routes = [[a.idx + 1 for a in route if a.is_client()] for route in best.best.routes()]
    if model.demand is None:
        return [0, *routes[0]]
    return [node for route in routes for node in (0, *route)] + [0]


def _solve(
    pyvrp: Any,
    data: Any,
    model: Model,
    trial: int,
    *,
    iterations: int,
    deadline: float,
    seed: int,
) -> Any:
    """Return the result of search number ``trial``, from 0; None if none is feasible in time."""
    for penalty in _penalties(model, trial):
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        stop = pyvrp.stop.MultipleCriteria(
            [pyvrp.stop.NoImprovement(iterations), pyvrp.stop.MaxRuntime(left)]
        )
        params = _params(pyvrp, NEIGHBORS[trial % len(NEIGHBORS)], penalty)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about penalties at their bound: see `_penalties`
            found = pyvrp.solve(
                data, stop, seed=seed + trial, collect_stats=False, display=False, params=params
            )
        if found.is_feasible():
            return found
    return None


def _penalties(model: Model, trial: int) -> Sequence[float | None]:
    """Return the first penalty of a unit of excess load, and the one for a second attempt."""
    if model.demand is None:
        return (None,)
    unit = max(float(model.distances.mean()), 1.0) / max(float(model.demand.mean()), 1e-9)
    # A single unit of excess load then costs more than a route to any customer alone.
    prohibitive = 4 * max(float(model.distances.max()), 1.0)
    return PENALTIES[trial % len(PENALTIES)] * unit, prohibitive


def _params(pyvrp: Any, neighbors: int, penalty: float | None) -> Any:
    """Return the parameters of a search.

    PyVRP starts with a penalty in the middle of its bounds and lowers it by a tenth in 500
    iterations. From the default bounds this takes longer than a whole search.
    """
    near = pyvrp.search.NeighbourhoodParams(num_neighbours=neighbors)
    if penalty is None:
        return pyvrp.SolveParams(neighbourhood=near)
    bounds = pyvrp.PenaltyParams(min_penalty=0.01 * penalty, max_penalty=2 * penalty)
    return pyvrp.SolveParams(neighbourhood=near, penalty=bounds)


def _data(pyvrp: object, model: Model) -> object:
    """Return PyVRP's form of an instance."""
    make: dict[str, type] = vars(pyvrp)
    A = len(model.distances)
    loads = [[]] * A if model.demand is None else [[], *([int(d)] for d in model.demand)]
    vehicle = {} if model.capacity is None else {"capacity": [model.capacity]}
    return make["ProblemData"](
        locations=[make["Location"](0, 0) for _ in range(A)],
        clients=[make["Client"](location=i, delivery=loads[i]) for i in range(1, A)],
        depots=[make["Depot"](0)],
        vehicle_types=[
            make["VehicleType"](num_available=1 if model.demand is None else A - 1, **vehicle)
        ],
        distance_matrices=[model.distances],
        duration_matrices=[np.zeros_like(model.distances)],
    )
