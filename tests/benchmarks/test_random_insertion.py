"""Random insertion visits every node once, and obeys the capacity."""

import itertools
import runpy

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from paths import ROOT

from lifelong_co.instance_files.file_instance import FileInstance, cost, distance_matrix

SCRIPT = runpy.run_path(str(ROOT / "benchmarks" / "random_insertion.py"))


def instance(seed: int, n: int, capacity: int | None = None) -> FileInstance:
    """Return random nodes, with customers if there is a capacity."""
    random = np.random.default_rng(seed)
    coordinates = random.integers(0, 100, (n + (capacity is not None), 2)).astype(float)
    demand = None if capacity is None else random.integers(0, capacity + 1, n)
    problem = "tsp" if capacity is None else "cvrp"
    return FileInstance("x", problem, coordinates, demand, capacity, "EUC_2D")


@given(st.integers(0, 99), st.integers(1, 12), st.integers(1, 20))
def test_routes_visit_every_customer_within_the_capacity(seed, n, capacity):
    """Each customer is on one route, and no route carries more than the capacity."""
    one = instance(seed, n, capacity)
    order = np.random.default_rng(seed).permutation(np.arange(1, n + 1))
    stops = SCRIPT["inserted"](one, distance_matrix(one), order)
    routes = [list(route) for depot, route in itertools.groupby(stops, bool) if depot]
    assert sorted(itertools.chain(*routes)) == list(range(1, n + 1))
    assert all(sum(one.demand[node - 1] for node in route) <= capacity for route in routes)


@given(st.integers(0, 99))
def test_best_of_many_orders_is_optimal_on_six_nodes(seed):
    """So few nodes have few tours; the cost is that of a tour."""
    one = instance(seed, 6)
    tours = itertools.permutations(range(1, 6))
    least = min(cost(one, np.array([0, *tour])) for tour in tours)
    assert SCRIPT["best_of"](one, 100) == least
