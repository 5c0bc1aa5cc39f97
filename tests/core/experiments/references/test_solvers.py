"""References: optimal where proven, feasible and no worse than greedy elsewhere."""

import builtins
import itertools

import numpy as np
import pytest
import torch

from lifelong_co import registry
from lifelong_co.errors import ConfigError
from lifelong_co.experiments.references import packages
from lifelong_co.experiments.references.exact import shortest_tour
from lifelong_co.experiments.references.heuristic import search
from lifelong_co.experiments.references.solvers import Settings, length, solve
from lifelong_co.experiments.references.subject import Model, of_file, of_instances, whole_demand
from lifelong_co.instance_files.vrplib_instances import FileInstance

TSP = registry.problem("tsp")
CVRP = registry.problem("cvrp")
QUICK = Settings(iterations=20, restarts=2, seconds=20)


def tsp(size, seed=0):
    """Return one subject of random nodes."""
    nodes = torch.rand(1, size, 2, generator=torch.Generator().manual_seed(seed))
    return of_instances(TSP.instances(nodes=nodes), TSP, "T")[0]


def cvrp(size, seed=0, capacity=20):
    """Return one subject of random customers with demands 1 to 9."""
    draw = torch.Generator().manual_seed(seed)
    places = torch.rand(1, size + 1, 2, generator=draw)
    units = torch.randint(1, 10, (1, size), generator=draw)
    made = CVRP.instances(depot=places[:, :1], nodes=places[:, 1:], demand=units / capacity)
    return of_instances(made, CVRP, "V")[0]


def shortest(distances):
    """Return the length of the shortest tour by trying all."""
    rest = range(1, len(distances))
    return min(length(distances, [0, *order]) for order in itertools.permutations(rest))


@pytest.mark.parametrize("size", [2, 3, 4, 7])
def test_proven_tours_are_the_shortest(size):
    """CP-SAT finds what trying all tours finds, from a bad hint, and says that it is proven."""
    pytest.importorskip("ortools")
    distances = tsp(size).model().distances
    found = shortest_tour(distances, list(range(size)), seconds=20)
    assert found.proven
    assert sorted(found.actions) == list(range(size))
    assert length(distances, found.actions) == shortest(distances)


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


def test_one_customer_per_route_where_nothing_else_fits():
    """Loads are in the solver's hands: full vehicles serve one customer each."""
    pytest.importorskip("pyvrp")
    distances = np.array([[0, 3, 4], [3, 0, 1], [4, 1, 0]]) * 10**6
    model = Model(distances, np.array([5, 5]), 9)
    found = search(model, iterations=20, restarts=2, seconds=20, seed=0)
    assert sorted(found) == [0, 0, 0, 1, 2]
    assert length(distances, found) == 14 * 10**6


def test_an_absent_package_is_named_with_its_extra(monkeypatch):
    """The error says what to install."""
    real = builtins.__import__
    monkeypatch.setattr(
        packages.importlib, "import_module", lambda name: real(f"absent_{name}", level=0)
    )
    with pytest.raises(ConfigError, match=r"package pyvrp, .*lifelong-co\[reference\]"):
        search(Model(np.zeros((3, 3), dtype=np.int64)), iterations=1, restarts=1, seconds=1, seed=0)


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


def test_keys_depend_on_the_contents_of_an_instance():
    """Stable across runs and precision, different for other nodes, demands and problems."""
    nodes = torch.tensor([[[0.0, 0.0], [1.0, 0.5]]])
    one = of_instances(TSP.instances(nodes=nodes), TSP, "a")[0].key
    assert one == "d54f74be05677055cd71ed104d8d889cd4494e41842e077e8a621ee335db834f"
    assert one == of_instances(TSP.instances(nodes=nodes.double()), TSP, "b")[0].key
    assert one == of_instances(TSP.instances(nodes=nodes.neg().neg()), TSP, "b")[0].key
    assert one != of_instances(TSP.instances(nodes=nodes.flip(1)), TSP, "a")[0].key
    assert cvrp(5, capacity=20).key != cvrp(5, capacity=21).key


def test_costs_are_in_the_units_of_the_instance():
    """A test instance by the problem's own cost, a file by its rounding rule."""
    subject = tsp(6)
    row = TSP.instances(nodes=torch.rand(1, 6, 2, generator=torch.Generator().manual_seed(0)))
    actions = torch.tensor([[[2, 0, 1, 5, 4, 3]]])
    expected = float(TSP.cost(row, actions))
    assert subject.cost(actions.flatten().tolist()) == pytest.approx(expected, rel=1e-6)
    square = np.array([[0, 0], [0, 1.6], [1.6, 1.6], [1.6, 0]])
    file = of_file(FileInstance("square", "tsp", square, None, None, "EUC_2D"))
    assert file.cost([0, 1, 2, 3]) == 8  # four sides of 1.6, each rounded to 2
    assert file.model().distances[0, 1] == 2


@pytest.mark.parametrize(
    ("actions", "fault"),
    [
        ([0, 1, 2, 0, 3, 0], ""),
        ([0, 1, 2, 3, 0], "a route carries 1.2 times the capacity"),
        ([0, 1, 2, 0], "visits node 3 0 times"),
        ([0, 1, 2, 0, 3, 3, 0], "visits node 3 2 times"),
        ([1, 2, 0, 3], "does not start and end at the depot"),
        ([0, 1, 2, 0, 4, 0], "expected nodes 0 to 3, got 4"),
    ],
)
def test_faults_are_reported(actions, fault):
    """Every way a solution of a test instance can fail."""
    made = CVRP.instances(
        depot=torch.zeros(1, 1, 2), nodes=torch.rand(1, 3, 2), demand=torch.full((1, 3), 0.4)
    )
    assert of_instances(made, CVRP, "V")[0].fault(actions) == fault
