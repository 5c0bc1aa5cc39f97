"""What the checks look at: instances, states, and a mode for a while."""

import pytest
import torch
from tiny_runs import MODEL

import lifelong_co as lco
from lifelong_co import testing
from lifelong_co.tensors import records
from lifelong_co.testing.samples import mode, observed_rollout, states


def good():
    """Return a solver that keeps the contract."""
    return lco.solver("pomo", "tsp", **MODEL)


def test_batch_of_one_is_refused():
    """With one instance there is no order, so checks of batches could not fail."""
    solver = good()
    one = records.select(testing.draw_instances(solver), slice(0, 1))
    with pytest.raises(lco.ConfigError, match="at least 2"):
        testing.check_solver(solver, instances=one)


def test_instances_follow_from_the_seed():
    """Size and batch are those asked for; the dtype is that of the module."""
    solver = good()
    solver.module.double()
    first, again, other = (testing.draw_instances(solver, 6, 2, seed=seed) for seed in (1, 1, 2))
    assert first.nodes.shape == (2, 6, 2)
    assert first.nodes.dtype == torch.float64
    assert torch.equal(first.nodes, again.nodes)
    assert not torch.equal(first.nodes, other.nodes)


def test_mode_ends_with_the_block():
    """Every part has its old mode and every buffer its old value again, also after an error."""
    module = torch.nn.Sequential(torch.nn.BatchNorm1d(1), torch.nn.Linear(1, 1))
    module[1].eval()

    def fail():
        with mode(module, training=True):
            assert all(part.training for part in module.modules())
            module(torch.ones(2, 1))
            raise ArithmeticError

    with pytest.raises(ArithmeticError):
        fail()
    assert [part.training for part in module.modules()] == [True, True, False]
    assert module[0].num_batches_tracked == 0


def test_states_lead_to_the_end_of_a_solution():
    """The first state is past the forced actions, the last before the final action."""
    solver = good()
    instances = testing.draw_instances(solver, 5, 2)
    found = states(solver.problem, instances, 3, 0)
    free = [int(solver.problem.feasible(instances, state)[0, 0].sum()) for state in found]
    assert free == list(range(free[0], 0, -1))


def test_observed_steps_are_copies_of_what_was_shown():
    """There is one for each step that is not forced, with its log-probabilities packed."""
    solver = good()
    instances = testing.draw_instances(solver, 5, 2)
    rollout, steps = observed_rollout(solver, instances, "sample", 0)
    assert len(steps) == rollout.actions.shape[2] - 1
    for step in steps:
        _, shown = step.shown
        assert torch.equal(step.log_probs, shown)
        assert records.rows(step.unit.instances) == 2
