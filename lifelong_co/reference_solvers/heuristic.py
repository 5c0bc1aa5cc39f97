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

    def attempt(penalty: float | None, trial: int, initial: Any = None) -> Any:
        """Return the result of a search; None if it is infeasible or time is over."""
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        stop = pyvrp.stop.MultipleCriteria(
            [pyvrp.stop.NoImprovement(settings.iterations), pyvrp.stop.MaxRuntime(left)]
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about penalties at their bound: see `_params`
            found = pyvrp.solve(
                data,
                stop,
                seed=settings.seed + trial,
                collect_stats=False,
                display=False,
                params=_params(pyvrp, NEIGHBORS[trial % len(NEIGHBORS)], penalty),
                initial_solution=initial,
            )
        return found if found.is_feasible() else None

    best = None
    for trial in range(restarts):
        if penalties is None:
            found = attempt(None, trial)
        else:
            first = PENALTIES[trial % len(PENALTIES)] * penalties.unit
            found = attempt(first, trial) or attempt(penalties.prohibitive, trial)
        if found is not None and (best is None or found.cost() < best.cost()):
            best = found
    if best is None and penalties is not None and penalties.last is not None:
        alone = pyvrp.Solution(data, [[client] for client in range(data.num_clients)])
        best = attempt(penalties.last, 0, alone)
    if best is None:
        return None
    return [[a.idx + 1 for a in route if a.is_client()] for route in best.best.routes()]


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
