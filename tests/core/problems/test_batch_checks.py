"""Actions and states of other instances are refused."""

from typing import Any

import numpy as np
import pytest
import torch

import lifelong_co as lco
from lifelong_co.errors import InvalidInstancesError
from lifelong_co.problems.geometry import closed_length
from lifelong_co.tensors import records

every = pytest.mark.parametrize("name", ["tsp", "cvrp", "mtvrp", "atsp"])


def instances(name: str, batch: int) -> Any:
    """Draw instances of five nodes."""
    distribution = lco.distribution("tmat" if name == "atsp" else "U", name)
    return distribution.sample(batch, 5, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("distance", ["euclidean", "manhattan"])
def test_actions_of_fewer_instances_are_refused(distance: str) -> None:
    """Their costs would be those of other instances."""
    points = torch.rand(2, 4, 2)
    p = None if distance == "euclidean" else torch.ones(2)
    with pytest.raises(
        InvalidInstancesError, match=r"actions: expected 2 rows, one for each instance, got 1$"
    ):
        closed_length(points, torch.arange(4).expand(1, 1, 4), p)


@pytest.mark.parametrize(
    "actions", [np.zeros((2, 3, 4)), torch.zeros(2, 4).long(), torch.zeros(2, 3, 4)]
)
def test_what_are_no_actions_is_refused(actions: Any) -> None:
    """Actions are long ``[B, S, T]``."""
    with pytest.raises(
        InvalidInstancesError, match=r"^actions: expected a long tensor \[B, S, T\]"
    ):
        closed_length(torch.rand(2, 4, 2), actions)


@every
@pytest.mark.parametrize("shape", [(2, 1), (1, 3), (2, 4)])
def test_step_of_other_trajectories_is_refused(name: str, shape: tuple[int, int]) -> None:
    """It would leave some of them where they are, without a word."""
    drawn = instances(name, 2)
    problem = lco.problem(name)
    with pytest.raises(InvalidInstancesError, match=r"^action: expected \[B, S\] = \[2, 3\]"):
        problem.step(drawn, problem.reset(drawn, 3), torch.ones(shape, dtype=torch.long))


@every
def test_step_of_fewer_instances_is_refused(name: str) -> None:
    """It would take the fields of other instances."""
    problem, drawn = lco.problem(name), instances(name, 3)
    state = records.select(problem.reset(drawn, 2), slice(1, 2))
    with pytest.raises(
        InvalidInstancesError, match=r"^state: expected 3 rows, one for each instance, got 1"
    ):
        problem.step(drawn, state, torch.ones(1, 2, dtype=torch.long))
