"""PyVRP on an instance from a file, alone or from a solution that a network has found.

Source: Wouda, Lan and Kool (2024), *PyVRP: a high-performance VRP solver package*, INFORMS J.
Comput. 36(4). The instance is in the units of its file, so rounded distances are exact. Distances
that are not rounded are counted in thousandths, and times are rounded up: a route that PyVRP
allows is allowed in the file.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.references.packages import optional
from lifelong_co.instance_files.file_instance import FileInstance, distance_matrix
from lifelong_co.instance_files.route_rules import TimeWindows
from lifelong_co.instance_files.solutions import check, routes

# Steps of one unit of length, where distances are not rounded.
STEPS = 1000

Integers = npt.NDArray[np.int64]


def improved(
    instance: FileInstance, seconds: float, start: Integers | None = None, *, seed: int = 0
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
    seed
        Seed of PyVRP's random stream. The result still depends on the speed of the machine.

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
    data = _data(pyvrp, instance)
    first = None if start is None else pyvrp.Solution(data, _clients(instance, start))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about penalties at their bound
        found = pyvrp.solve(
            data,
            pyvrp.stop.MaxRuntime(seconds),
            seed=seed,
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


def refuse_unmodelled(instance: FileInstance) -> None:
    """Raise `ConfigError` before the work if PyVRP is missing or cannot model the instance."""
    optional("pyvrp")
    if instance.rules is not None and not isinstance(instance.rules, TimeWindows):
        raise ConfigError(
            f"{instance.name}: expected an instance that PyVRP models here (tours, routes with"
            f" capacities and time windows), got one of {instance.problem}"
        )


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


def _data(pyvrp: Any, instance: FileInstance) -> Any:
    """Return PyVRP's form of the instance; a TSP has one vehicle and the depot at node 0."""
    refuse_unmodelled(instance)
    distances = distance_matrix(instance)
    steps = 1 if np.issubdtype(distances.dtype, np.integer) else STEPS
    exact = distances * steps
    lengths, durations = np.rint(exact).astype(np.int64), np.ceil(exact).astype(np.int64)
    A, rules = len(lengths), instance.rules
    clients: Sequence[dict[str, Any]] = [{} for _ in range(A)]
    vehicle: dict[str, Any] = {"num_available": 1}
    depot: dict[str, Any] = {}
    if instance.demand is not None:
        clients = [{}, *({"delivery": [int(load)]} for load in instance.demand)]
        vehicle = {"num_available": A - 1, "capacity": [instance.capacity]}
    if isinstance(rules, TimeWindows):
        for node, client in enumerate(clients):
            client |= {
                "tw_early": int(np.ceil(rules.ready[node] * steps)),
                "tw_late": int(np.floor(rules.due[node] * steps)),
            }
        for node, client in enumerate(clients[1:], start=1):
            client["service_duration"] = int(np.ceil(rules.service[node] * steps))
        depot = dict(clients[0])
    else:
        durations = np.zeros_like(lengths)
    return pyvrp.ProblemData(
        locations=[pyvrp.Location(0, 0) for _ in range(A)],
        clients=[pyvrp.Client(location=i, **clients[i]) for i in range(1, A)],
        depots=[pyvrp.Depot(0, **depot)],
        vehicle_types=[pyvrp.VehicleType(**vehicle)],
        distance_matrices=[lengths],
        duration_matrices=[durations],
    )
