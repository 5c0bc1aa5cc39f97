"""A function of a problem that changes what it gets is found."""

import copy

import pytest
import torch

import lifelong_co as lco
from lifelong_co.testing.contract import ContractError
from lifelong_co.testing.read_only import ReadOnlyProblem


class Writes:
    """A TSP whose `starts` write into the instances, and whose `context` into the state."""

    def __getattr__(self, name):
        return getattr(lco.problem("tsp"), name)

    def starts(self, instances, trajectories):
        """Move the nodes."""
        instances.nodes.mul_(0.5)
        return lco.problem("tsp").starts(instances, trajectories)

    def context(self, state):
        """Forget what was visited."""
        state.visited.zero_()
        return lco.problem("tsp").context(state)


def test_function_and_field_are_named():
    """Other functions give what they gave, and attributes stay."""
    problem = ReadOnlyProblem(Writes(), "check")
    instances = lco.problem("tsp").instances(nodes=torch.rand(2, 5, 2))
    with pytest.raises(ContractError, match=r"starts\(…\) that leaves its instances unchanged, go"):
        problem.starts(instances, 3)
    state = problem.reset(instances, 3)
    state = problem.step(instances, state, torch.zeros(2, 3, dtype=torch.long))
    with pytest.raises(ContractError, match=r"its state unchanged, got a changed visited"):
        problem.context(state)
    assert problem.name == "tsp"
    assert problem.size(instances=instances) == 5
    assert copy.deepcopy(problem).name == "tsp"
