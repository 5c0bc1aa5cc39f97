"""Conducting a benchmark: nothing solved twice, nothing stale kept, batches change no cost."""

from collections.abc import Sequence

import attrs
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_runs import MODEL

from lifelong_co import registry
from lifelong_co.errors import FileFormatError
from lifelong_co.experiments.benchmark.conduct import Entrant, How, conduct, groups
from lifelong_co.experiments.benchmark.known import as_now, known_of, with_references
from lifelong_co.experiments.benchmark.results import Benchmark, Result
from lifelong_co.experiments.references.cache import Cache, Reference
from lifelong_co.experiments.references.subject import of_file
from lifelong_co.instance_files.vrplib_instances import FileInstance, read_instance


def drawn(name, size=7, seed=0):
    """Return a TSP of random whole coordinates."""
    points = np.random.default_rng(seed).integers(0, 1000, (size, 2)).astype(float)
    return FileInstance(name, "tsp", points, None, None, "EUC_2D")


def entrant(label="one", weights="w", seed=0):
    """Return a small untrained network."""
    torch.manual_seed(seed)
    solver = registry.solver("pomo", "tsp", **MODEL)
    solver.module.eval()
    return Entrant(label, solver, weights)


INSTANCES = [drawn("a"), drawn("b", 7, 1), drawn("c", 8), drawn("d", 7, 2)]


def go(instances, entrants, done=(), **how):
    """Conduct a benchmark; return the results, what was solved, and what else was told.

    What is kept has the best cost known when it was solved, what is returned that known now.
    """
    told, kept = [], []
    found = conduct(instances, entrants, done, How(**how), keep=kept.append, log=told.append)
    assert as_now(kept[-1], instances) == found
    solved = [line.split(": cost")[0] for line in told if ": cost" in line]
    return found, solved, [line for line in told if ": cost" not in line]


def test_known_results_are_kept_and_the_rest_is_solved():
    """Instance by instance, whatever was there before, and nothing twice."""
    both = [entrant(), entrant("two", "v", seed=1)]
    whole, solved, _ = go(INSTANCES, both)
    assert len(solved) == len(whole) == 8
    assert [(one.instance, one.solver) for one in whole[:3]] == [
        ("a", "one"),
        ("a", "two"),
        ("b", "one"),
    ]
    again, solved, told = go(INSTANCES, both, whole)
    assert (again, solved, told) == (whole, [], [])
    rest, solved, _ = go(INSTANCES, both, whole[3:])
    assert solved == ["a: one", "a: two", "b: one"]
    assert [attrs.evolve(one, seconds=0) for one in rest] == [
        attrs.evolve(one, seconds=0) for one in whole
    ]


def test_other_weights_are_solved_again():
    """A run that went on has other costs; the other solver's are taken."""
    both = [entrant(), entrant("two", "v", seed=1)]
    old, _, _ = go(INSTANCES, both)
    trained = [both[0], entrant("two", "new", seed=2)]
    new, solved, told = go(INSTANCES, trained, old)
    assert solved == [f"{name}: two" for name in "abdc"]
    assert told == ["two: the weights have changed; 4 results dropped"]
    assert [one for one in new if one.solver == "one"] == [
        one for one in old if one.solver == "one"
    ]
    assert {one.weights for one in new if one.solver == "two"} == {"new"}


def test_another_file_of_the_same_name_is_solved_again():
    """What it holds counts; a file that is not looked at now keeps its result."""
    old, _, _ = go(INSTANCES, [entrant()])
    changed = [attrs.evolve(drawn("a", 7, 9)), *INSTANCES[1:3]]
    new, solved, told = go(changed, [entrant()], old)
    assert solved == ["a: one"]
    assert told == ["a: the content of the file has changed; 1 result dropped"]
    assert [one.instance for one in new] == ["a", "b", "c", "d"]
    assert new[0].instance_key == of_file(changed[0]).key != old[0].instance_key


def test_batches_find_the_same_costs():
    """Instances of one size together; what was solved together is noted."""
    alone, _, _ = go(INSTANCES, [entrant()])
    together, solved, _ = go(INSTANCES, [entrant()], batch=2)
    assert solved == ["a: one", "b: one", "d: one", "c: one"]
    assert [(one.instance, one.cost) for one in together] == [
        (one.instance, one.cost) for one in alone
    ]
    assert [one.batch for one in together] == [2, 2, 1, 1]
    bounded, _, _ = go(INSTANCES, [entrant()], batch=3, at_once=14)
    assert [one.batch for one in bounded] == [2, 2, 1, 1]  # two times seven trajectories fit


@given(st.lists(st.integers(2, 6), max_size=12), st.integers(1, 4))
def test_groups_are_of_one_size_and_hold_every_instance_once(sizes, most):
    """None is above the most, and only the last of a size below it."""
    instances = [drawn(str(k), size) for k, size in enumerate(sizes)]
    found = list(groups(instances, most))
    assert sorted(one.name for group in found for one in group) == sorted(
        map(str, range(len(sizes)))
    )
    assert all(len({one.size for one in group}) == 1 and len(group) <= most for group in found)
    assert len(found) == sum(-(-sizes.count(size) // most) for size in set(sizes))


def reference(cost):
    """Return a reference of that cost."""
    return Reference(
        name="x",
        size=5,
        cost=cost,
        actions=[],
        proven=False,
        solver="x",
        version="1",
        settings={},
        seconds=1.0,
    )


def test_the_best_known_cost_is_looked_up_each_time(tmp_path):
    """A later file or reference shows without solving; what is unknown now stays as stored."""
    old, _, _ = go(INSTANCES, [entrant()])
    assert old[0].best_known is None
    known = [attrs.evolve(one, best_known=12.0) for one in INSTANCES]
    new, solved, _ = go(known, [entrant()], old)
    assert solved == []
    assert {one.best_known for one in new} == {12.0}
    kept: list[Sequence[Result]] = []
    conduct(known, [entrant()], old, How(), keep=kept.append, log=str)
    assert {one.best_known for one in kept[-1]} == {None}  # what is known now may be withdrawn
    assert as_now(new, INSTANCES) == new
    benchmark = Benchmark(tmp_path, {"library": "tsplib"}, new)
    cache = Cache(tmp_path)
    for name, cost in (("a", 11.0), ("b", 13.0)):
        subject = of_file({one.name: one for one in INSTANCES}[name])
        cache.put(subject, reference(cost))
    found = with_references(benchmark, tmp_path).results
    assert [one.best_known for one in found] == [11.0, 12.0, 12.0, 12.0]
    older = attrs.evolve(benchmark, results=[attrs.evolve(new[0], instance_key="")])
    assert with_references(older, tmp_path) == older
    cache.place("tsp", of_file(INSTANCES[0]).key).write_text("[]")
    with pytest.raises(FileFormatError, match="expected a reference as JSON"):
        with_references(benchmark, tmp_path)


def test_a_reference_counts_where_it_is_lower(tmp_path):
    """Than what the file states, here 24."""
    text = (
        "NAME: x\nTYPE: TSP\nCOMMENT: optimal value: 24\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\n"
    )
    file = tmp_path / "x.tsp"
    file.write_text(text + "NODE_COORD_SECTION\n1 0 0\n2 6 8\n3 0 8\nEOF\n")
    one = read_instance(file)
    assert known_of(file, one, None) == 24
    for cost, expected in ((25.0, 24), (23.0, 23)):
        Cache(tmp_path).put(of_file(one), reference(cost))
        assert known_of(file, one, tmp_path) == expected
