"""Stored references compared with their instances."""

import attrs
import pytest
from synthetic_references import find, published, squares

from lifelong_co import registry
from lifelong_co.errors import FileFormatError
from lifelong_co.experiments.references.cache import Cache
from lifelong_co.experiments.references.checking import check_cached, check_stored
from lifelong_co.experiments.references.stored import stored
from lifelong_co.experiments.references.subject import of_instances

TSP = registry.problem("tsp")


@pytest.mark.usefixtures("solved")
def test_a_cost_below_a_proven_optimum_is_reported(tmp_path):
    """Where only costs are stored, that is how an infeasible solution shows."""
    published(tmp_path, [3.9, 1.9, 4 / 3])
    cache = Cache(tmp_path)
    find(cache)
    one = of_instances(squares(), TSP, "S")[0]
    cache.put(one, attrs.evolve(cache.get("tsp", one.key), proven=True))
    faults = list(check_stored(stored(tmp_path, TSP, "U"), TSP, "U4", cache))
    assert [(f.name, f.reason) for f in faults] == [
        ("U4 #0", "costs 3.900000, below the proven 4.000000")
    ]


def test_published_solutions_are_checked(tmp_path, monkeypatch):
    """The official text files: a missing node and a wrong cost are found, good lines are not."""
    monkeypatch.setattr(registry, "testset", lambda problem, name: squares())  # noqa: ARG005
    folder = tmp_path / "TSP" / "generated_test_instances"
    folder.mkdir(parents=True)
    file = folder / "TSPinstances_Grid_4_10000_seed0_Gurobi_solution"
    file.write_text("0,1,2,3 4.0 0.1\n0,1,2,2 1.7 0.1\n0,1,2,3 1.5 0.1\n0,1,2 cut")
    found = stored(tmp_path, TSP, "G")
    assert (found.file, found.costs) == (file, [4.0, 1.7, 1.5])
    faults = [f"{f.name}: {f.reason}" for f in check_stored(found, TSP, "G4", Cache(tmp_path))]
    assert faults == [
        "G4 #1: infeasible: visits node 2 2 times",
        "G4 #2: costs 1.333333, not 1.500000 as stated",
    ]
    file.write_text("0,1,2,3\n")
    with pytest.raises(FileFormatError, match="line 1: expected actions, cost and seconds"):
        stored(tmp_path, TSP, "G")


@pytest.mark.usefixtures("solved")
def test_cached_references_are_checked(tmp_path):
    """A reference changed by hand is found."""
    cache = Cache(tmp_path)
    find(cache, 2)
    one, two = subjects = of_instances(squares(2), TSP, "S")
    assert list(check_cached(subjects, cache)) == []
    cache.put(one, attrs.evolve(cache.get("tsp", one.key), cost=1.0))
    cache.put(two, attrs.evolve(cache.get("tsp", two.key), cost=1.5, actions=[0, 1, 3]))
    assert [f.reason for f in check_cached(subjects, cache)] == [
        "does not cost 1.000000 as stated",
        "infeasible: ends before it is complete (node 2 is not visited)",
    ]
