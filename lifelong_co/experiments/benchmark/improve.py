"""PyVRP on an instance from a file, alone or from a solution that a network has found.

Source: Wouda, Lan and Kool (2024), *PyVRP: a high-performance VRP solver package*, INFORMS J.
Comput. 36(4). The model is that of references (`references.file_models`).
"""

import time
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from lifelong_co.experiments.references.file_models import model_of_file
from lifelong_co.instance_files.file_instance import FileInstance
from lifelong_co.instance_files.solutions import check, routes
from lifelong_co.reference_solvers.packages import optional

Integers = npt.NDArray[np.int64]

SEED = 0
"""Of PyVRP's random stream. The result still depends on the speed of the machine."""


def improved(
    instance: FileInstance, seconds: float, start: Integers | None = None
) -> Integers | None:
    """Return the best actions ``[T]`` that PyVRP finds.

    Parameters
    ----------
    instance
        The instance.
    seconds
        The time of the search, more than 0.
    start
        The solution to start from; None: PyVRP makes one.

    Returns
    -------
    Actions that solve the instance. With ``start`` they never cost more. None if there is no
    ``start`` and PyVRP finds no solution.

    Raises
    ------
    ConfigError
        If PyVRP is not installed, or the file has rules that are not modelled here.
    """
    pyvrp = optional("pyvrp")
    data, deadline = model_of_file(instance).data(), time.monotonic() + seconds
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about penalties at their bound
        first = None
        if start is not None:
            first = _searched(pyvrp, data, pyvrp.Solution(data, _clients(instance, start)))
        found = pyvrp.solve(
            data,
            pyvrp.stop.MaxRuntime(max(0.0, deadline - time.monotonic())),
            seed=SEED,
            collect_stats=False,
            display=False,
            initial_solution=first,
        )
    if not found.is_feasible():
        return start
    actions = _actions(instance, found.best)
    if start is None or check(instance, actions).cost < check(instance, start).cost:
        return actions
    return start


def _searched(pyvrp: Any, data: Any, solution: Any) -> Any:
    """Return a local optimum near a solution.

    PyVRP does the same with the random solution from which it starts alone. Without it, a search
    from a poor solution of 1,000 customers ends above that of PyVRP alone.
    """
    params, search = pyvrp.SolveParams(), pyvrp.search
    local = search.LocalSearch(
        data,
        pyvrp.RandomNumberGenerator(seed=SEED),
        search.compute_neighbours(data, params.neighbourhood),
        search.PerturbationManager(params.perturbation),
    )
    for operator in params.operators:
        if operator.supports(data):
            local.add_operator(operator(data))
    manager = pyvrp.PenaltyManager(params.penalty.midpoint_penalties(data), params.penalty)
    return local(solution, manager.max_cost_evaluator(), exhaustive=True)


def refuse_unmodelled(instance: FileInstance) -> None:
    """Raise `ConfigError` before the work if PyVRP is missing or cannot model the instance."""
    optional("pyvrp")
    model_of_file(instance)


def _clients(instance: FileInstance, actions: Integers) -> list[list[int]]:
    """Return the numbers of PyVRP's clients on each route; a tour leaves out the depot, node 0."""
    if instance.demand is not None:
        return [[node - 1 for node in route] for route in routes(actions)]
    place = actions.tolist().index(0)
    return [[int(node) - 1 for node in (*actions[place + 1 :], *actions[:place])]]


def _actions(instance: FileInstance, solution: Any) -> Integers:
    """Return PyVRP's solution as actions ``[T]``."""
    found = [[a.idx + 1 for a in route if a.is_client()] for route in solution.routes()]
    if instance.demand is None:
        return np.array([0, *found[0]], dtype=np.int64)
    return np.array([node for route in found for node in (0, *route)] + [0], dtype=np.int64)
