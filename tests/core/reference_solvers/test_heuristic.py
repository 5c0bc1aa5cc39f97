"""PyVRP's search on an instance solved by hand."""

import numpy as np
import pytest

from lifelong_co.problems.reference_models import RouteModel, length
from lifelong_co.reference_solvers import Settings


def test_one_customer_per_route_where_nothing_else_fits():
    """Loads are in the solver's hands: full vehicles serve one customer each."""
    pytest.importorskip("pyvrp")
    distances = np.array([[0, 3, 4], [3, 0, 1], [4, 1, 0]]) * 10**6
    model = RouteModel(distances, np.array([5, 5]), 9)
    found = model.solve(Settings(iterations=20, restarts=2, seconds=20)).actions
    assert sorted(found) == [0, 0, 0, 1, 2]
    assert length(distances, found) == 14 * 10**6
