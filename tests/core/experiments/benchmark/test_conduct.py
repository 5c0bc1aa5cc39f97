"""Conducting a benchmark: nothing solved twice, nothing stale kept, batches change no cost."""

import attrs
from hypothesis import given
from hypothesis import strategies as st
from synthetic_benchmarks import INSTANCES, drawn, entrant, go

from lifelong_co.experiments.benchmark.conduct import groups
from lifelong_co.experiments.references.subject import of_file


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
    again, solved, logged = go(INSTANCES, both, whole)
    assert (again, solved, logged) == (whole, [], [])
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
    new, solved, logged = go(INSTANCES, trained, old)
    assert solved == [f"{name}: two" for name in "abdc"]
    assert logged == ["two: the weights have changed; 4 results dropped"]
    assert [one for one in new if one.solver == "one"] == [
        one for one in old if one.solver == "one"
    ]
    assert {one.weights for one in new if one.solver == "two"} == {"new"}


def test_another_file_of_the_same_name_is_solved_again():
    """What it holds counts; the result of a file that is not in this call is not shown."""
    old, _, _ = go(INSTANCES, [entrant()])
    changed = [attrs.evolve(drawn("a", 7, 9)), *INSTANCES[1:3]]
    new, solved, logged = go(changed, [entrant()], old)
    assert solved == ["a: one"]
    assert logged == [
        "a: the content of the file has changed; 1 result dropped",
        "stored results of files that are not in this call: 1; they are not shown",
    ]
    assert [one.instance for one in new] == ["a", "b", "c"]
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
