"""Checks that a solver's behavior follows from its ``state_dict``; `test_suite` has more faults."""

import pytest
import torch
from changed_solvers import Changed, Wrapped, good, tilt
from faulty_modules import GrowingCache, OldCopy
from tiny_runs import same
from torch import nn

from lifelong_co import testing
from lifelong_co.protocols import Objective
from lifelong_co.reinforce import shared_baseline

SIZE = 4


def test_parameter_outside_the_module_is_found():
    """The module's state_dict does not have it, so a restored solver behaves otherwise."""

    def forgetful() -> Changed:
        temperature = torch.rand(())
        return Changed(lambda x: tilt(x, temperature))

    with pytest.raises(testing.ContractError, match="check_restored: expected the same probs"):
        testing.check_solver(forgetful(), size=SIZE, factory=forgetful)


def test_copy_from_before_the_parameters_were_loaded_is_found():
    """The second solver has been used, as that of a run, which tests after each task."""
    solver, other = OldCopy(), OldCopy()
    instances = testing.draw_instances(solver, SIZE)
    with torch.no_grad(), pytest.raises(testing.ContractError, match="restored from the state_di"):
        testing.check_restored(solver, other, instances)


def test_check_of_parameters_leaves_them_as_they_were():
    """To the bit."""
    solver = good()
    before = {name: value.clone() for name, value in solver.module.state_dict().items()}
    testing.check_parameters(solver, testing.draw_instances(solver, SIZE))
    assert same(before, solver.module.state_dict())


def test_cache_that_grows_is_no_fault():
    """It follows from the instances."""
    testing.check_solver(GrowingCache(), size=SIZE)


class Critic(Wrapped):
    """Learns to guess costs, which no log-likelihood needs."""

    def __init__(self) -> None:
        super().__init__()
        self.module.critic = nn.Parameter(torch.zeros(()))

    def objective(self) -> Objective:
        """Add the critic's error."""
        inner = shared_baseline().loss
        guess = self.module.critic
        return Objective(
            loss=lambda given, found: inner(given, found) + (guess - found.cost).square().mean()
        )


def test_critic_of_the_objective_is_no_fault():
    """It has gradients in the policy loss, and none in the log-likelihood."""
    testing.check_solver(Critic(), size=SIZE)


def test_buffer_with_nan_that_stays_is_no_fault():
    """NaN is unlike itself."""
    solver = Wrapped()
    solver.module.register_buffer("mask", torch.full((2,), torch.nan), persistent=False)
    testing.check_buffers(solver, testing.draw_instances(solver, SIZE))
