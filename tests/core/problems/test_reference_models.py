"""The models of the TSP, the ATSP and the CVRP, and their solutions compared with greedy ones."""

from itertools import permutations

import numpy as np
import pytest
import torch
from synthetic_references import cvrp, tsp

from lifelong_co.instance_files.file_instance import tightened
from lifelong_co.problems.atsp import ATSP
from lifelong_co.problems.atsp_sampler import matrices
from lifelong_co.problems.reference_models import matrix_model, whole_demand
from lifelong_co.reference_solvers import Settings, packages

QUICK = Settings(iterations=20, restarts=2, seconds=20)


def test_tsp_up_to_the_limit_is_proven_and_above_it_is_not():
    """`prove` decides which solver's word counts; both name solver, version and settings."""
    pytest.importorskip("ortools")
    pytest.importorskip("pyvrp")
    subject = tsp(7)
    proven = subject.model().solve(QUICK)
    assert (proven.proven, proven.solver) == (True, "ortools")
    heuristic = subject.model().solve(Settings(iterations=20, restarts=2, seconds=20, prove=6))
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
        found = subject.model().solve(QUICK)
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


@pytest.mark.parametrize("capacity", [1, 7, 30, 50, 997])
def test_fractions_become_the_whole_numbers_they_came_from(capacity):
    """Demand in single precision is read back in units of the least capacity that fits."""
    units = np.minimum(np.array([1, 2, 5, 1, 9]), capacity)
    found, least = whole_demand((units / capacity).astype(np.float32).astype(np.float64))
    assert (found * (capacity // least)).tolist() == units.tolist()
    assert capacity % least == 0


def test_fractions_of_no_capacity_keep_their_order_and_never_exceed_the_tolerance():
    """Fine steps: what fits in integers fits the problem's own tolerance."""
    fractions = np.random.default_rng(0).random(100)
    found, capacity = whole_demand(fractions)
    assert np.abs(found / 1e8 - fractions).max() <= 1e-8
    assert 1e8 < capacity <= 1e8 * (1 + 1e-5)


def test_full_customer_of_a_large_capacity_fits():
    """Its load is a little above the capacity, as in files (`file_instance.tightened`)."""
    fractions = tightened(np.array([60_000, 1_000, 2_001, 501]) / 60_000, 60_000)
    found, capacity = whole_demand(fractions)
    assert capacity == found.max() < 1e8 * (1 + 1e-5)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_tour_of_an_asymmetric_matrix_is_the_shortest_of_all(size):
    """Also of three nodes, where the direction matters; it is proven, and costs the same."""
    pytest.importorskip("ortools")
    pytest.importorskip("pyvrp")
    batch = matrices(3, size, generator=torch.Generator().manual_seed(size)).double()
    every = torch.tensor([[0, *rest] for rest in permutations(range(1, size))])
    for b in range(3):
        row = ATSP().instances(matrix=batch[b : b + 1])
        found = matrix_model(row).solve(QUICK)
        assert found.proven
        cost = float(ATSP().cost(row, torch.tensor([[found.actions]])))
        assert cost == pytest.approx(float(ATSP().cost(row, every[None]).min()), abs=1e-9)
