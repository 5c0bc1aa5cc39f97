"""PyVRP: iterated local search for vehicle routing problems.

Source: Wouda, Lan and Kool (2024), *PyVRP: a high-performance VRP solver package*, INFORMS J.
Comput. 36(4); version 0.14 or newer. The result depends only on the seed, unless a time limit is
reached.
"""

import time
import warnings
from typing import Any

import attrs

from lifelong_co.reference_solvers.contract import Settings
from lifelong_co.reference_solvers.packages import optional

# The searches differ in the number of neighbors per node and in the first penalty of one unit of
# excess load (in mean distances over mean demands): on clusters no single choice is always best.
NEIGHBORS = (50, 20, 100)
PENALTIES = (1.0, 4.0)


@attrs.frozen
class Penalties:
    """The first penalties of one unit of excess, in the integers of the model."""

    unit: float
    """For example the mean distance over the mean demand; searches multiply it by `PENALTIES`."""
    prohibitive: float
    """For a second attempt, where a search finds no feasible solution. For example four times the
    longest distance: a unit of excess then costs more than a route to any customer alone."""
    last: float | None = None
    """For one more search, from routes to each customer alone, where no search finds a feasible
    solution. The routes must be feasible. None: there is no such search."""


def search(
    data: Any, settings: Settings, *, restarts: int, penalties: Penalties | None = None
) -> list[list[int]] | None:
    """Return the customers of each route of the best solution, or None if none is feasible.

    Parameters
    ----------
    data
        The instance as a ``pyvrp.ProblemData``.
    settings
        The effort. The time limit is for all searches together.
    restarts
        Number of searches, with different seeds and settings: one often ends in a local optimum.
    penalties
        None if the instance has nothing to exceed, or for the penalties of PyVRP.

    Returns
    -------
    The customers of each route, numbered from 1 in the order of ``data``.
    """
    pyvrp = optional("pyvrp")
    deadline = time.monotonic() + settings.seconds
    best = None
    for trial in range(restarts):
        found = _solve(pyvrp, data, penalties, trial, settings=settings, deadline=deadline)
        if found is not None and (best is None or found.cost() < best.cost()):
            best = found
    if best is None and penalties is not None and penalties.last is not None:
        best = _attempt(
            pyvrp, data, penalties.last, 0, settings=settings, deadline=deadline, alone=True
        )
    if best is None:
        return None
    return [[a.idx + 1 for a in route if a.is_client()] for route in best.best.routes()]


def _solve(
    pyvrp: Any,
    data: Any,
    penalties: Penalties | None,
    trial: int,
    *,
    settings: Settings,
    deadline: float,
) -> Any:
    """Return the result of search number ``trial``, from 0; None if none is feasible in time."""
    attempts: tuple[float | None, ...] = (None,)
    if penalties is not None:
        attempts = (PENALTIES[trial % len(PENALTIES)] * penalties.unit, penalties.prohibitive)
    for penalty in attempts:
        found = _attempt(pyvrp, data, penalty, trial, settings=settings, deadline=deadline)
        if found is not None:
            return found
    return None


def _attempt(
    pyvrp: Any,
    data: Any,
    penalty: float | None,
    trial: int,
    *,
    settings: Settings,
    deadline: float,
    alone: bool = False,
) -> Any:
    """Return the result of a search with one penalty; None if it is infeasible or time is over.

    ``alone``: the search starts with a route to each customer alone.
    """
    left = deadline - time.monotonic()
    if left <= 0:
        return None
    stop = pyvrp.stop.MultipleCriteria(
        [pyvrp.stop.NoImprovement(settings.iterations), pyvrp.stop.MaxRuntime(left)]
    )
    params = _params(pyvrp, NEIGHBORS[trial % len(NEIGHBORS)], penalty)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about penalties at their bound: see `_params`
        found = pyvrp.solve(
            data,
            stop,
            seed=settings.seed + trial,
            collect_stats=False,
            display=False,
            params=params,
            initial_solution=_alone(pyvrp, data) if alone else None,
        )
    return found if found.is_feasible() else None


def _alone(pyvrp: Any, data: Any) -> Any:
    return pyvrp.Solution(data, [[client] for client in range(data.num_clients)])


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
