"""REINFORCE: the solver's own objective, and normalised advantages by hand."""

import math
import statistics
from types import SimpleNamespace

import attrs
import pytest
import torch
from lifelong_co_plugins.objectives.reinforce import normalised

import lifelong_co as lco
from lifelong_co.errors import ComponentError
from lifelong_co.reinforce import shared_baseline


def test_reinforce_is_the_objective_of_the_solver():
    """It is the same object, so nothing changes for any solver."""
    own = shared_baseline()
    assert lco.objective("reinforce", SimpleNamespace(objective=lambda: own)) is own


def test_solver_without_an_objective_is_named():
    """A forgotten ``return`` is not the fault of the plugin that registers ``reinforce``."""
    with pytest.raises(ComponentError, match=r"^solver SimpleNamespace, objective\(\): .* None"):
        lco.objective("reinforce", SimpleNamespace(objective=lambda: None))


def test_normalised_loss_and_gradient_by_hand(drawn):
    """Each instance by a loop over its trajectories."""
    epsilon = 0.01
    loss = lco.objective("reinforce-normalised", None, epsilon=epsilon).loss(None, drawn)
    expected, weights = 0.0, []
    for costs, likelihoods in zip(drawn.cost.tolist(), drawn.log_likelihood.tolist(), strict=True):
        mean, deviation = statistics.fmean(costs), statistics.pstdev(costs)
        for cost, likelihood in zip(costs, likelihoods, strict=True):
            weights.append((cost - mean) / (deviation + epsilon) / 18)
            expected += weights[-1] * likelihood
    assert loss.item() == pytest.approx(expected, rel=1e-12)
    [gradient] = torch.autograd.grad(loss, drawn.log_likelihood)
    torch.testing.assert_close(gradient.flatten(), torch.tensor(weights, dtype=torch.float64))


def test_constant_added_to_costs_changes_nothing(drawn):
    """The mean of the instance takes it out again."""
    objective = lco.objective("reinforce-normalised", None)
    moved = attrs.evolve(drawn, cost=drawn.cost + torch.tensor([[1.0], [-5.0], [30.0]]))
    torch.testing.assert_close(objective.loss(None, moved), objective.loss(None, drawn))


def test_equal_costs_have_no_advantage():
    """Exactly 0, in single precision too; differences by rounding stay far below 1."""
    assert normalised(torch.full((2, 7), 6.1), 1e-4).abs().max() == 0
    rounded = torch.tensor([[6.1, math.nextafter(6.1, 7)]]) + torch.tensor([[0.0, 5e-7]])
    assert normalised(rounded, 1e-4).abs().max() < 0.01


def test_epsilon_must_be_above_zero():
    """The message names objective and option."""
    with pytest.raises(lco.ConfigError, match=r"'reinforce-normalised': epsilon: .*got 0"):
        lco.objective("reinforce-normalised", None, epsilon=0)
