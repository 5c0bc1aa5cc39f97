"""The nearest-neighbor rule, by the masks of any problem."""

import math

import numpy as np
import pytest
from file_strategies import file_instances
from hypothesis import given, settings
from paths import FIXTURES

from lifelong_co import registry
from lifelong_co.instance_files import nearest_neighbor as module
from lifelong_co.instance_files.file_instance import FileInstance, cost, distance_matrix
from lifelong_co.instance_files.formats import read_file
from lifelong_co.instance_files.nearest_neighbor import nearest_neighbor
from lifelong_co.instance_files.solutions import check


def by_hand(instance: FileInstance, start: int) -> float:
    """Return the cost of the rule from a start, written with loops."""
    distances, first = distance_matrix(instance), 0 if instance.demand is None else 1
    here, left = start + first, set(range(first, len(distances))) - {start + first}
    tour, load = [here], 0
    demand = [0] if instance.demand is None else [0, *instance.demand]
    load = demand[here] if first else 0
    while left:
        near = [
            node for node in sorted(left) if not first or load + demand[node] <= instance.capacity
        ]
        if near:
            here = min(near, key=lambda node: distances[here, node])
            left.remove(here)
            load += demand[here] if first else 0
        else:
            here, load = 0, 0
        tour.append(here)
    return cost(instance, [0, *tour, 0] if first else tour)


@settings(deadline=None, max_examples=60)
@given(file_instances())
def test_every_start_follows_the_rule(instance: FileInstance) -> None:
    """Each tour solves the file and costs what loops find, up to ties."""
    tours = nearest_neighbor(instance, registry.problem(instance.problem))
    assert len(tours) == instance.size
    for start, actions in enumerate(tours):
        report = check(instance, actions)
        if len(np.unique(distance_matrix(instance))) > instance.size**2:  # no ties
            assert report.cost == by_hand(instance, start)


def test_rule_on_a_known_file() -> None:
    """Loops find the same costs on the fixtures, which have no ties that matter."""
    for name in ("five.tsp", "four.vrp"):
        instance = read_file(FIXTURES / name)
        tours = nearest_neighbor(instance, registry.problem(instance.problem))
        found = min(check(instance, actions).cost for actions in tours)
        assert found == min(by_hand(instance, start) for start in range(instance.size))


@pytest.mark.parametrize(("name", "problem"), [("four.atsp", "atsp"), ("seven.txt", "mtvrp")])
def test_rule_solves_other_problems(name: str, problem: str) -> None:
    """A matrix without coordinates, and time windows."""
    instance = read_file(FIXTURES / name)
    assert instance.problem == problem
    tours = nearest_neighbor(instance, registry.problem(problem))
    costs = [check(instance, actions).cost for actions in tours]
    assert all(map(math.isfinite, costs))
    if problem == "atsp":
        assert min(costs) == 10


def test_large_instances_have_fewer_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work is bounded, and at least one start is left."""
    instance = read_file(FIXTURES / "five.tsp")
    monkeypatch.setattr(module, "WORK", 80)
    assert len(nearest_neighbor(instance, registry.problem("tsp"))) == 2
    monkeypatch.setattr(module, "WORK", 1)
    assert len(nearest_neighbor(instance, registry.problem("tsp"))) == 1
