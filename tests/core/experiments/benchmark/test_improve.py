"""PyVRP on files: in their units, from a solution, never worse."""

import sys

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import FIXTURES

from lifelong_co import registry
from lifelong_co.errors import ConfigError
from lifelong_co.experiments.benchmark.improve import improved, refuse_unmodelled
from lifelong_co.instance_files.file_instance import FileInstance
from lifelong_co.instance_files.formats import read_file
from lifelong_co.instance_files.nearest_neighbor import nearest_neighbor
from lifelong_co.instance_files.solutions import check

pytest.importorskip("pyvrp")

FILES = ("five.tsp", "four.vrp", "four.atsp", "seven.txt")


def drawn(problem: str, size: int, seed: int) -> FileInstance:
    """Return an instance of random coordinates."""
    random = np.random.default_rng(seed)
    depot = problem == "cvrp"
    points = random.integers(0, 1000, (size + depot, 2)).astype(float)
    demand = random.integers(1, 9, size) if depot else None
    return FileInstance("drawn", problem, points, demand, 20 if depot else None, "EUC_2D")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("started", [False, True])
def test_solutions_of_files_are_feasible(name: str, started: bool) -> None:
    """With rounded distances, a matrix, and time windows without rounding."""
    instance = read_file(FIXTURES / name)
    first = nearest_neighbor(instance, registry.problem(instance.problem))[0]
    found = improved(instance, 0.1, first if started else None)
    assert found is not None
    assert check(instance, found).cost <= check(instance, first).cost


@settings(deadline=None, max_examples=10)
@given(st.sampled_from(("tsp", "cvrp")), st.integers(3, 12), st.integers(0, 100))
def test_a_start_is_never_made_worse(problem: str, size: int, seed: int) -> None:
    """Even in a time in which nothing can be found."""
    instance = drawn(problem, size, seed)
    tours = nearest_neighbor(instance, registry.problem(problem))
    for actions in tours[:2]:
        found = improved(instance, 0.01, actions)
        assert found is not None
        assert check(instance, found).cost <= check(instance, actions).cost


def test_optimal_start_stays() -> None:
    """The same solution comes back if there is none better."""
    instance = read_file(FIXTURES / "five.tsp")
    best = improved(instance, 0.1)
    again = improved(instance, 0.05, best)
    assert again is best


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra and how to install it."""
    monkeypatch.setitem(sys.modules, "pyvrp", None)
    with pytest.raises(ConfigError, match=r"pyvrp, which is not installed.*lifelong-co\[reference"):
        refuse_unmodelled(drawn("tsp", 5, 0))


def test_unknown_rules_are_refused() -> None:
    """A plugin's rules are not modelled here."""
    instance = attrs.evolve(drawn("cvrp", 5, 0), problem="mine", rules=object())
    with pytest.raises(ConfigError, match="which PyVRP models here, got mine with other rules"):
        refuse_unmodelled(instance)
