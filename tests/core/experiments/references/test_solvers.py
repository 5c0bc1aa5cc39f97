"""The choice of the solver, and its solutions compared with greedy ones."""

import pytest
from synthetic_references import cvrp, tsp

from lifelong_co.experiments.references import packages
from lifelong_co.experiments.references.solvers import Settings, solve

QUICK = Settings(iterations=20, restarts=2, seconds=20)


def test_tsp_up_to_the_limit_is_proven_and_above_it_is_not():
    """`prove` decides which solver's word counts; both name solver, version and settings."""
    pytest.importorskip("ortools")
    pytest.importorskip("pyvrp")
    subject = tsp(7)
    proven = solve(subject.model(), QUICK)
    assert (proven.proven, proven.solver) == (True, "ortools")
    heuristic = solve(subject.model(), Settings(iterations=20, restarts=2, seconds=20, prove=6))
    assert (heuristic.proven, heuristic.solver) == (False, "pyvrp")
    assert heuristic.settings["prove"] == 6
    assert heuristic.version == packages.version("pyvrp")
    assert subject.fault(heuristic.actions) == ""
    assert subject.cost(proven.actions) <= subject.cost(heuristic.actions) + 1e-6


def test_routes_are_feasible_and_no_worse_than_greedy():
    """Nearest-neighbour routes cost at least as much as PyVRP's, which fit the capacity."""
    pytest.importorskip("pyvrp")
    for seed in range(3):
        subject = cvrp(9, seed)
        found = solve(subject.model(), QUICK)
        assert subject.fault(found.actions) == ""
        assert not found.proven
        assert subject.cost(found.actions) <= subject.cost(greedy(subject.model())) + 1e-9


def greedy(model):
    """Return routes that go to the nearest customer that fits."""
    left, route, load = set(range(1, len(model.distances))), [0], 0
    while left:
        fits = [c for c in left if load + model.demand[c - 1] <= model.capacity]
        if not fits:
            route, load = [*route, 0], 0
            continue
        nearest = min(fits, key=lambda c: model.distances[route[-1], c])
        left.remove(nearest)
        route, load = [*route, nearest], load + model.demand[nearest - 1]
    return [*route, 0]
