"""Checks that a solver's behavior follows from its ``state_dict``; `test_suite` has more faults."""

import pytest
import torch
from changed_solvers import Changed, good, tilt
from faulty_modules import GrowingCache, OldCopy
from tiny_runs import same

from lifelong_co import testing

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
