"""References of many instances: found once, resumed, kept when better."""

from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from unittest.mock import Mock

import attrs
import numpy as np
import pytest
import torch
from synthetic_references import find, squares

from lifelong_co import registry
from lifelong_co.experiments.references import batch
from lifelong_co.experiments.references.cache import Cache
from lifelong_co.experiments.references.subject import of_instances
from lifelong_co.reference_solvers.contract import Found, Settings

TSP = registry.problem("tsp")
SETTINGS = Settings()


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


def test_few_models_wait_for_the_processes(tmp_path, monkeypatch):
    """Twice as many as there are processes, however long these take."""
    pool, lengths = Mock(), []
    pool.submit.side_effect = lambda *_: Future()

    def third_time(waiting, **_):
        lengths.append(len(waiting))
        if len(lengths) % 3:
            return set(), set(waiting)
        task = next(iter(waiting))
        task.set_result(Found([0, 1, 2, 3], False, "test", "1", {}, 0.0))
        return {task}, set(waiting) - {task}

    monkeypatch.setattr(batch, "ProcessPoolExecutor", lambda *_, **__: pool)
    monkeypatch.setattr(batch, "wait", third_time)
    assert len(find(Cache(tmp_path), 9, jobs=2)) == 9
    assert max(lengths) == 4


@pytest.mark.parametrize("place", ["submit", "result"])
def test_process_that_dies_is_an_error_of_ours(place, tmp_path, monkeypatch):
    """Whichever call notices it; after a signal to stop it is none."""
    pool, died = Mock(), Future()
    died.set_exception(BrokenProcessPool())
    pool.submit.side_effect = BrokenProcessPool() if place == "submit" else lambda *_: died
    monkeypatch.setattr(batch, "ProcessPoolExecutor", lambda *_, **__: pool)
    with pytest.raises(batch.SolverError, match=r"process died, .*; start again with fewer jobs"):
        find(Cache(tmp_path), 2, jobs=2)
    stops = iter((False, True, True, True, True))
    assert find(Cache(tmp_path), 2, jobs=2, stop=lambda: next(stops, True)) == {}


def test_wrong_results_of_a_solver_are_refused(tmp_path, monkeypatch):
    """What does not solve the instance is never stored."""
    wrong = Found([0, 1, 2, 2], False, "test", "1", {}, 0.0)
    monkeypatch.setattr(batch, "solve", lambda model, settings: wrong)  # noqa: ARG005
    with pytest.raises(batch.SolverError, match="S #0: the solution of test visits node 2 2 times"):
        find(Cache(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_another_process_finds_what_this_one_stores(tmp_path):
    """A process solves, this one checks and stores; n = 3 has one tour only."""
    pytest.importorskip("ortools")
    nodes = torch.rand(1, 3, 2, generator=torch.Generator().manual_seed(0))
    subjects = of_instances(TSP.instances(nodes=nodes), TSP, "S")
    ((subject, found, new),) = batch.find(subjects, Cache(tmp_path), SETTINGS, jobs=2)
    assert (found.proven, found.cost, new) == (True, subject.cost([0, 1, 2]), True)
    assert [new for _, _, new in batch.find(subjects, Cache(tmp_path), SETTINGS)] == [False]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (([0, 1, 2, 3], True), r"S #0: the reference model of tsp: expected a Found or None, got"),
        (Found(None, False, "t", "1", {}, 0.0), r"S #0: the actions of t: .* got None"),
        (Found([0.0, 1, 2, 3], False, "t", "1", {}, 0.0), r"the actions of t: .*whole numbers"),
        (Found([0, 1, 2, 3], "no", "t", "1", {}, 0.0), r"proven of t: expected .* got 'no'"),
        (Found([0, 1, 2, 3], False, "t", "1", {"a": {1}}, 0.0), r"the result of t: .*plain data"),
    ],
)
def test_a_result_of_a_plugin_that_is_none_is_refused(result, said, tmp_path, monkeypatch):
    """The error names the instance and the solver."""
    monkeypatch.setattr(batch, "solve", lambda *_: result)
    with pytest.raises(batch.SolverError, match=said):
        find(Cache(tmp_path), 1)


def test_numbers_of_numpy_are_stored_as_plain_ones(tmp_path, monkeypatch):
    """A plugin's solver returns an array of actions; they are read back as whole numbers."""
    result = Found(np.arange(4), np.bool_(True), "t", "1", {}, 0.0)
    monkeypatch.setattr(batch, "solve", lambda *_: result)
    find(Cache(tmp_path), 1)
    ((again, new),) = find(Cache(tmp_path), 1).values()
    assert (again.actions, again.proven, new) == ([0, 1, 2, 3], True, False)
