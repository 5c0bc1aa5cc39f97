"""Solvers, rules and PyVRP on one file; what is stored is not solved again."""

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


def test_solver_solves_again_only_with_other_weights(libraries, monkeypatch):
    """Rules and PyVRP have no weights: they solve once."""
    pytest.importorskip("pyvrp")
    nodes = np.array([[17 * i % 29, 13 * i % 31] for i in range(12)], dtype=float)
    file = FileInstance("x", "tsp", nodes, None, None, "EUC_2D", best_known=100.0)
    solver = lco.solver("pomo", problem="tsp", embedding_dim=8, head_num=2, qkv_dim=4)
    solver.module.eval()

    def lines(weights, stored):
        entrant = Entrant("llr-bc", solver, weights)
        return list(libraries.Contest("tsplib", [file], [(entrant, "abc")], 0.1).lines(stored))

    found = lines("one", {})
    names = ["llr-bc", "nearest neighbor", "random insertion", "PyVRP, 0.1 s"]
    assert [line["solver"] for line in found] == names
    assert [line["commit"] for line in found] == ["abc", "", "", ""]
    assert all(float(line["cost"]) > 0 for line in found)
    stored = {libraries.key(line): line for line in found}
    monkeypatch.setattr(libraries, "improved", refused)
    monkeypatch.setattr(libraries, "nearest", refused)
    first, *others = lines("other", stored)
    assert (first["weights"], others) == ("other", found[1:])
    monkeypatch.setattr(libraries, "solve", refused)
    assert lines("one", stored) == found
