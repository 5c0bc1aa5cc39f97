"""PyVRP: iterated local search for the CVRP, and for the TSP as a CVRP of one vehicle.

Source: Wouda, Lan and Kool (2024), *PyVRP: a high-performance VRP solver package*, INFORMS J.
Comput. 36(4); version 0.14 or newer. Without a limit of time the result depends on the seed only.
"""

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from lifelong_co.experiments.references.packages import optional
from lifelong_co.experiments.references.subject import Model

# Searches take turns in how many neighbors of a node they try, and in what a unit of load too much
# costs at first, in mean distances over mean demands: on clusters no one choice finds the best.
NEIGHBORS = (50, 20, 100)
PENALTIES = (1.0, 4.0)


def search(
    model: Model, *, iterations: int, restarts: int, seconds: float, seed: int
) -> list[int] | None:
    """Return the best actions ``[T]`` found, or None if none is feasible.

    Parameters
    ----------
    model
        TSP or CVRP, at least two nodes or customers.
    iterations
        End a search after so many without improvement.
    restarts
        Number of searches, with different seeds and settings: one often ends in a local optimum.
    seconds
        Stop after this time, however.
    seed
        Of PyVRP's random stream, in the first search.
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
    """Return what the search of this number, from 0, finds; None if nothing feasible in time."""
    for penalty in _penalties(model, trial):
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        stop = pyvrp.stop.MultipleCriteria(
            [pyvrp.stop.NoImprovement(iterations), pyvrp.stop.MaxRuntime(left)]
        )
        params = _params(pyvrp, NEIGHBORS[trial % len(NEIGHBORS)], penalty)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of penalties at their bound: see `_penalties`
            found = pyvrp.solve(
                data, stop, seed=seed + trial, collect_stats=False, display=False, params=params
            )
        if found.is_feasible():
            return found
    return None


def _penalties(model: Model, trial: int) -> Sequence[float | None]:
    """Return what a unit of load too much costs at first, and if so nothing feasible is found."""
    if model.demand is None:
        return (None,)
    unit = max(float(model.distances.mean()), 1.0) / max(float(model.demand.mean()), 1e-9)
    # More than any customer costs alone, though only one unit of load is too much.
    prohibitive = 4 * max(float(model.distances.max()), 1.0)
    return PENALTIES[trial % len(PENALTIES)] * unit, prohibitive


def _params(pyvrp: Any, neighbors: int, penalty: float | None) -> Any:
    """Return how a search looks.

    PyVRP begins in the middle of its bounds of penalties and comes down by a tenth in 500
    iterations: from its default bounds that takes longer than a whole search.
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
