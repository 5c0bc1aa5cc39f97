"""Solvers, rules and PyVRP on one file; what is stored is not solved again."""

from importlib import metadata

import numpy as np
import pytest

import lifelong_co as lco
from lifelong_co.experiments.benchmark.conduct import Entrant
from lifelong_co.instance_files.file_instance import FileInstance


@pytest.fixture
def libraries(program):
    """Return the module."""
    return program("libraries")


def refused(*_):
    """Raise: nothing is to be solved."""
    raise AssertionError("solved again")


def test_only_another_version_solves_again(libraries, monkeypatch):
    """Rules have no version: they solve once."""
    pytest.importorskip("pyvrp")
    nodes = np.array([[17 * i % 29, 13 * i % 31] for i in range(12)], dtype=float)
    file = FileInstance("x", "tsp", nodes, None, None, "EUC_2D", best_known=100.0)
    solver = lco.solver("pomo", problem="tsp", embedding_dim=8, head_num=2, qkv_dim=4)
    solver.module.eval()

    def lines(weights, stored):
        entrant = Entrant("llr-bc", solver, weights), {"commit": "abc", "configuration": "def"}
        return list(libraries.Contest("tsplib", [file], [entrant], 0.1).lines(stored))

    found = lines("one", {})
    names = ["llr-bc", "nearest neighbor", "random insertion", "PyVRP, 0.1 s"]
    assert [line["solver"] for line in found] == names
    assert [line["commit"] for line in found] == ["abc", "", "", ""]
    assert [line["version"] for line in found] == ["one", "", "", metadata.version("pyvrp")]
    assert all(float(line["cost"]) > 0 for line in found)
    stored = {libraries.key(line): line for line in found}
    monkeypatch.setattr(libraries, "nearest", refused)
    with monkeypatch.context() as patch:
        patch.setattr(libraries, "improved", refused)
        first, *others = lines("other", stored)
        assert (first["version"], others) == ("other", found[1:])
    monkeypatch.setattr(libraries, "solve", refused)
    assert lines("one", stored) == found
    monkeypatch.setattr(libraries.metadata, "version", lambda _: "older")
    *others, last = lines("one", stored)
    assert (last["version"], others) == ("older", found[:-1])
