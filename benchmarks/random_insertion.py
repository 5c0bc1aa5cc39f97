"""Random insertion: nodes in random order, each where it makes the solution longer by the least.

Source: Rosenkrantz, Stearns and Lewis (1977), *An analysis of several heuristics for the traveling
salesman problem*, SIAM J. Comput. 6(3). In the CVRP a customer goes only into a route with room for
it, or into a new one.
"""

import numpy as np
import numpy.typing as npt

from lifelong_co.instance_files.file_instance import FileInstance, distance_matrix

Integers = npt.NDArray[np.int64]


def best_of(instance: FileInstance, orders: int) -> float:
    """Return the least cost of some random orders, in the distances of the file."""
    random, far = np.random.default_rng(0), distance_matrix(instance)
    nodes = np.arange(1, len(far))
    found = (inserted(instance, far, random.permutation(nodes)) for _ in range(orders))
    return float(min(far[stops[:-1], stops[1:]].sum() for stops in found))


def inserted(instance: FileInstance, far: npt.NDArray[np.number], order: Integers) -> Integers:
    """Return the stops of all routes, one after another; each begins and ends at node 0.

    ``far [A, A]`` are the distances, and ``order`` are all nodes but node 0, which is a depot or
    the first node of a tour. A tour is one route without a limit.
    """
    demand = np.zeros(len(far), dtype=np.int64)
    if instance.demand is not None:
        demand[1:] = instance.demand
    stops = np.zeros(2, dtype=np.int64)  # a new route is always the last one
    for node in order:
        before, after = stops[:-1], stops[1:]
        longer = (far[before, node] + far[node, after] - far[before, after]).astype(np.float64)
        if instance.capacity is not None:
            route = np.cumsum(before == 0) - 1
            load = np.bincount(route, demand[before])
            longer[load[route] + demand[node] > instance.capacity] = np.inf
        place = int(longer.argmin()) + 1
        opens = instance.capacity is not None and place == len(stops) - 1
        stops = np.insert(stops, place, node)
        if opens:
            stops = np.append(stops, 0)
    return stops
