"""PyVRP: iterated local search for the CVRP, and for the TSP as a CVRP of one vehicle.

Source: Wouda, Lan and Kool (2024), *PyVRP: a high-performance VRP solver package*, INFORMS J.
Comput. 36(4); version 0.14 or newer. Without a limit of time the result depends on the seed only.
"""

import time
import warnings

import numpy as np

from lifelong_co.reference.packages import optional
from lifelong_co.reference.subject import Model

# Mean distance over mean demand as in CVRPLIB's instances; PyVRP bounds its penalties for load.
PENALTY_RATIO = 10


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
        Searches, each with a seed of its own: one alone often ends in a local optimum.
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
        left = deadline - time.monotonic()
        if left <= 0:
            break
        stop = pyvrp.stop.MultipleCriteria(
            [pyvrp.stop.NoImprovement(iterations), pyvrp.stop.MaxRuntime(left)]
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of penalties at their bound; we look at feasibility
            found = pyvrp.solve(data, stop, seed=seed + trial, collect_stats=False, display=False)
        if found.is_feasible() and (best is None or found.cost() < best.cost()):
            best = found
    if best is None:
        return None
    routes = [[a.idx + 1 for a in route if a.is_client()] for route in best.best.routes()]
    if model.demand is None:
        return [0, *routes[0]]
    return [node for route in routes for node in (0, *route)] + [0]


def _data(pyvrp: object, model: Model) -> object:
    """Return PyVRP's form of an instance; loads are scaled to match the lengths."""
    make: dict[str, type] = vars(pyvrp)
    A = len(model.distances)
    scale = 1
    if model.demand is not None:
        ratio = model.distances.mean() / max(float(model.demand.mean()), 1e-9)
        scale = max(1, min(round(ratio / PENALTY_RATIO), 10**6))
    loads = [[]] * A if model.demand is None else [[], *([int(d) * scale] for d in model.demand)]
    vehicle = {} if model.capacity is None else {"capacity": [model.capacity * scale]}
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
