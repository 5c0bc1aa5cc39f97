"""The preference objective by hand, what it depends on, and extreme numbers."""

import math

import attrs
import pytest
import torch

import lifelong_co as lco


def test_loss_and_gradient_by_hand(drawn):
    """A loop over all ordered pairs of trajectories."""
    beta = 0.3
    loss = lco.objective("preference", None, beta=beta).loss(None, drawn)
    total, gradient = 0.0, torch.zeros(3, 6, dtype=torch.float64)
    cost, likelihood = drawn.cost.tolist(), drawn.log_likelihood.tolist()
    for b in range(3):
        for i in range(6):
            for j in range(6):
                if cost[b][i] < cost[b][j]:
                    margin = beta * (likelihood[b][i] - likelihood[b][j])
                    total += math.log1p(math.exp(-margin)) / 108
                    slope = beta / (1 + math.exp(margin)) / 108
                    gradient[b, i] -= slope
                    gradient[b, j] += slope
    assert loss.item() == pytest.approx(total, rel=1e-12)
    [found] = torch.autograd.grad(loss, drawn.log_likelihood)
    torch.testing.assert_close(found, gradient)


def test_only_the_order_of_the_costs_matters(drawn):
    """Any increasing function of the costs changes nothing; another order does."""
    objective = lco.objective("preference", None)
    loss = objective.loss(None, drawn)
    for cost in (drawn.cost + 3, 7 * drawn.cost, drawn.cost.exp()):
        assert torch.equal(objective.loss(None, attrs.evolve(drawn, cost=cost)), loss)
    assert not torch.equal(objective.loss(None, attrs.evolve(drawn, cost=-drawn.cost)), loss)


@pytest.mark.parametrize("name", ["preference", "best-of", "reinforce-normalised"])
def test_extreme_numbers_are_finite(name, made):
    """Equal costs give 0 with zero gradients; huge differences of log-likelihoods are finite."""
    objective = lco.objective(name, None)
    likelihood = torch.tensor([[-1e30, -3.0, 0.0], [0.0, -1e6, -5.0]], requires_grad=True)
    for cost in (torch.ones(2, 3), torch.zeros(2, 3), torch.tensor([[1.0, 2, 3], [0, 0, 9]])):
        loss = objective.loss(None, made(cost, likelihood))
        [gradient] = torch.autograd.grad(loss, likelihood)
        assert loss.isfinite()
        assert gradient.isfinite().all()
        if len(cost.unique()) == 1:
            assert loss == 0
            assert (gradient == 0).all()


@pytest.mark.parametrize("beta", [0, -1.0, math.inf])
def test_beta_must_be_above_zero_and_finite(beta):
    """The message names objective and option."""
    with pytest.raises(lco.ConfigError, match=r"beta: expected (more than 0|a finite)"):
        lco.objective("preference", None, beta=beta)
