"""The strategies draw instances that keep the contract of their problem."""

import subprocess
import sys
from typing import Any

import pytest
import torch
from hypothesis import find, given, settings
from hypothesis import strategies as st

import lifelong_co as lco
from lifelong_co.tensors import records
from lifelong_co.testing import check_problem
from lifelong_co.testing.strategies import instances


@settings(max_examples=20, deadline=None)
@given(data=st.data(), name=st.sampled_from(["tsp", "cvrp"]))
def test_drawn_instances_pass_the_check_of_their_problem(data: Any, name: str) -> None:
    """They have the given sizes and types."""
    problem = lco.problem(name)
    drawn = data.draw(
        instances(problem, "C", sizes=(3, 5), batches=(2, 3), dtypes=(torch.float64,))
    )
    assert 3 <= problem.size(drawn) <= 5
    assert 2 <= records.rows(drawn) <= 3
    assert drawn.nodes.dtype == torch.float64
    check_problem(problem, instances=drawn)


def test_nodes_can_coincide() -> None:
    """The coarsest grid has four points."""
    tsp = lco.problem("tsp")
    found = find(instances(tsp), lambda drawn: bool((drawn.nodes[0, 0] == drawn.nodes[0, 1]).all()))
    assert records.rows(found) == 1


def test_unknown_distribution_is_refused() -> None:
    """The error has the known names."""
    with pytest.raises(lco.UnknownNameError, match="GM"):
        find(instances(lco.problem("tsp"), "GN"), lambda drawn: True)  # noqa: ARG005


def test_checks_do_not_need_hypothesis() -> None:
    """Only the module of the strategies imports it."""
    program = "import sys, lifelong_co.testing; print('hypothesis' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
