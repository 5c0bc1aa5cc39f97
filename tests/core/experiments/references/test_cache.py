"""References kept: found once, resumed, compared with others' and with test costs."""

import json
import os
from pathlib import Path

import attrs
import numpy as np
import pytest
import torch

from lifelong_co import registry
from lifelong_co.errors import ConfigError, FileFormatError
from lifelong_co.experiments.references import batch, gaps, lookup, sources
from lifelong_co.experiments.references.cache import Cache, Reference
from lifelong_co.experiments.references.checking import check_cached, check_stored
from lifelong_co.experiments.references.solvers import Found, Settings
from lifelong_co.experiments.references.stored import stored
from lifelong_co.experiments.references.subject import of_instances

TSP = registry.problem("tsp")
CVRP = registry.problem("cvrp")
SETTINGS = Settings()


def squares(count=3):
    """Return TSP instances of four corners, of side 1, 1/2, 1/3, …."""
    corners = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    return TSP.instances(nodes=torch.stack([corners / (b + 1) for b in range(count)]))


@pytest.fixture
def solved(monkeypatch):
    """Replace the solvers by one that goes around; return the models it was asked for."""
    asked = []

    def around(model, settings):
        asked.append(model)
        return Found([0, 1, 2, 3], False, "test", "1", attrs.asdict(settings), 0.0)

    monkeypatch.setattr(batch, "solve", around)
    return asked


def find(cache, count=3, **options):
    """Return what `batch.find` yields for squares, by name."""
    subjects = of_instances(squares(count), TSP, "S")
    return {s.name: (r, new) for s, r, new in batch.find(subjects, cache, SETTINGS, **options)}


def test_known_references_are_not_searched_again(tmp_path, solved):
    """An interrupted search goes on where it stopped; costs are those of the instance."""
    cache = Cache(tmp_path)
    assert find(cache, stop=lambda: len(solved) >= 2).keys() == {"S #0", "S #1"}
    found = find(cache)
    assert {name: new for name, (_, new) in found.items()} == {
        **{"S #0": False, "S #1": False},
        "S #2": True,
    }
    assert len(solved) == 3
    assert [found[f"S #{b}"][0].cost for b in range(3)] == pytest.approx([4, 2, 4 / 3])


def test_again_keeps_the_better_and_leaves_the_proven(tmp_path, solved):
    """A worse solution does not replace a better one; what is proven is not solved again."""
    cache = Cache(tmp_path)
    find(cache, 2)
    one, two = of_instances(squares(2), TSP, "S")
    good = cache.get("tsp", one.key)
    cache.put(one, attrs.evolve(good, cost=3.0))
    cache.put(two, attrs.evolve(cache.get("tsp", two.key), proven=True))
    assert cache.put(two, attrs.evolve(good, cost=2.0)).proven
    found = find(cache, 2, again=True)
    assert len(solved) == 3
    assert found["S #0"][0].cost == 3.0
    assert found["S #1"][0].proven


def test_wrong_results_of_a_solver_are_refused(tmp_path, monkeypatch):
    """What does not solve the instance is never stored."""
    wrong = Found([0, 1, 2, 2], False, "test", "1", {}, 0.0)
    monkeypatch.setattr(batch, "solve", lambda model, settings: wrong)  # noqa: ARG005
    with pytest.raises(batch.SolverError, match="S #0: the solution of test visits node 2 2 times"):
        find(Cache(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("solved")
def test_a_damaged_reference_is_named(tmp_path):
    """A file that holds something else is an error that says what to do."""
    cache = Cache(tmp_path)
    find(cache, 1)
    (file,) = tmp_path.rglob("*.json")
    content = json.loads(file.read_text())
    assert content["solver"] == "test"
    assert content["settings"]["iterations"] == 2000
    file.write_text("{")
    with pytest.raises(FileFormatError, match=r"\.json: expected a reference .*delete the file"):
        find(cache, 1)
    file.write_text(json.dumps({**content, "cost": "x"}))
    with pytest.raises(FileFormatError, match="cost: expected a number"):
        find(cache, 1)


def test_another_process_finds_what_this_one_stores(tmp_path):
    """A process solves, this one checks and stores; n = 3 has one tour only."""
    pytest.importorskip("ortools")
    nodes = torch.rand(1, 3, 2, generator=torch.Generator().manual_seed(0))
    subjects = of_instances(TSP.instances(nodes=nodes), TSP, "S")
    ((subject, found, new),) = batch.find(subjects, Cache(tmp_path), SETTINGS, jobs=2)
    assert (found.proven, found.cost, new) == (True, subject.cost([0, 1, 2]), True)
    assert [new for _, _, new in batch.find(subjects, Cache(tmp_path), SETTINGS)] == [False]


def reference(cost):
    """Return a reference that was found in the working directory."""
    return lookup.Known(cost, Path("references"))


def test_gaps_use_the_means_over_instances_with_references():
    """Mean cost over mean reference; instances without a reference are left out and counted."""
    gap = gaps.gap_of([11.0, 5.0, 22.0], [reference(10.0), None, reference(20.0)])
    assert (gap.value, gap.reference) == (pytest.approx(0.1), 15.0)
    assert str(gap) == "gap 10.00% on 2 of 3 instances"
    assert str(gaps.gap_of([2.0], [reference(1.0)])) == "gap 100.00%"
    assert gaps.gap_of([1.0], [None]) is None
    assert gaps.gap_of([1.0], []) is None  # there was no folder to look in


def published(folder, costs):
    """Write squares with reference costs as the official test sets are stored."""
    made = squares(len(costs))
    np.savez(folder / "tsp-U4.npz", nodes=made.nodes.numpy(), reference_cost=np.array(costs))
    return made


@pytest.mark.usefixtures("solved")
def test_published_costs_are_read_unchanged(tmp_path):
    """Stored costs fill in for instances without a reference of our own."""
    made = published(tmp_path, [4.1, 2.2, 1.5])
    known = lookup.references([tmp_path], TSP, made, "U")
    assert [each.cost for each in known] == [4.1, 2.2, 1.5]
    assert lookup.references([tmp_path], TSP, made, "GM") == [None] * 3
    find(Cache(tmp_path), 1)
    known = lookup.references([tmp_path], TSP, made, "U")
    assert [each.cost for each in known] == pytest.approx([4.0, 2.2, 1.5])
    assert gaps.mean_reference(known) == pytest.approx(7.7 / 3)
    part = lookup.references([tmp_path], TSP, made, "R")
    assert [each is None for each in part] == [False, True, True]
    assert gaps.mean_reference(part) is None
    assert gaps.mean_reference([]) is None


def test_a_torn_archive_is_named(tmp_path):
    """A copy that broke off, wherever; and a folder where a file should be."""
    published(tmp_path, [4.1, 2.2, 1.5])
    file = tmp_path / "tsp-U4.npz"
    whole = file.read_bytes()
    for kept in (0, 3, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:kept])
        with pytest.raises(FileFormatError, match=r"tsp-U4\.npz: expected instances"):
            lookup.references([tmp_path], TSP, squares(3), "U")
    file.write_bytes(whole[:60] + b"torn" + whole[64:])
    with pytest.raises(FileFormatError, match=r"tsp-U4\.npz: expected instances"):
        lookup.references([tmp_path], TSP, squares(3), "U")
    file.unlink()
    (tmp_path / "TSPinstances_uniform_x_solution").mkdir()
    (tmp_path / "TSPinstances_U_x_solution").mkdir()
    with pytest.raises(FileFormatError, match=r"solution: cannot be read"):
        lookup.references([tmp_path], TSP, squares(3), "U")


@pytest.mark.usefixtures("solved")
def test_the_first_folder_that_has_a_reference_counts(tmp_path):
    """A folder further on fills in for what the ones before it lack, and is named."""
    own, one, other = (tmp_path / name for name in ("own", "one", "other"))
    for folder in (one, other):
        folder.mkdir()
    published(one, [4.1, 2.2])
    made = published(other, [9.0, 9.0, 1.5])
    find(Cache(own), 1)
    known = lookup.references([own, one, other], TSP, made, "U")
    assert [(round(each.cost, 6), each.place) for each in known] == [
        (4.0, own),
        (2.2, one),
        (1.5, other),
    ]
    assert lookup.origins([None, *known[:2], known[0]]) == (own, one)


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
    file = folder / "TSPinstances_Grid_50_10000_seed0_Gurobi_solution"
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
        "infeasible: visits node 2 0 times",
    ]


def test_seed_0_draws_the_test_instances_of_a_task():
    """References of a distribution are those of a task's test instances."""
    from lifelong_co.experiments.references.subject import keys_of
    from lifelong_co.tasks.instances import testing
    from lifelong_co.tasks.task import Task

    task = Task(distribution="E", size=7, epochs=1, batches=1, batch_size=1)
    (group,) = testing(task, CVRP, 4)
    drawn = sources.from_distribution("E", CVRP, 7, 4)
    assert [one.key for one in drawn] == keys_of(group, CVRP)
    assert drawn[0].name == "E7 #0"


def test_files_are_read_in_rounded_or_scaled_units(tmp_path):
    """Rounded distances by default, the unit square when scaled; nothing there is an error."""
    text = (
        "NAME: s\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
        "1 0 0\n2 0 10\n3 10 0\nEOF\n"
    )
    (tmp_path / "s.tsp").write_text(text)
    (own,) = sources.from_files(tmp_path, TSP)
    (seen,) = sources.from_files(tmp_path, TSP, scaled=True)
    assert own.cost([0, 1, 2]) == 34
    assert seen.cost([0, 1, 2]) == pytest.approx(2 + 2**0.5)
    assert own.key != seen.key
    with pytest.raises(ConfigError, match=r"folder with \.vrp files, found none"):
        sources.from_files(tmp_path, CVRP)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    """The error names the file."""
    if os.geteuid() == 0:
        (tmp_path / "tsp").write_text("in the way")
    else:
        tmp_path.chmod(0o500)
    one = of_instances(squares(1), TSP, "S")[0]
    reference = Reference(
        **{"name": "S", "size": 4, "cost": 4.0, "actions": [0, 1, 2, 3], "proven": True},
        **{"solver": "t", "version": "1", "settings": {}, "seconds": 0.0},
    )
    with pytest.raises((ConfigError, FileFormatError), match=r"\.json: "):
        Cache(tmp_path).put(one, reference)
