"""PyVRP's search on an instance solved by hand."""

import numpy as np
import pytest

from lifelong_co.experiments.references.heuristic import search
from lifelong_co.experiments.references.solvers import length
from lifelong_co.experiments.references.subject import Model


def test_one_customer_per_route_where_nothing_else_fits():
    """Loads are in the solver's hands: full vehicles serve one customer each."""
    pytest.importorskip("pyvrp")
    distances = np.array([[0, 3, 4], [3, 0, 1], [4, 1, 0]]) * 10**6
    model = Model(distances, np.array([5, 5]), 9)
    found = search(model, iterations=20, restarts=2, seconds=20, seed=0)
    assert sorted(found) == [0, 0, 0, 1, 2]
    assert length(distances, found) == 14 * 10**6
