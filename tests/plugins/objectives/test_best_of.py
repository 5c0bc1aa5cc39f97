"""BOPO's objective by hand, what it depends on, and the length of a solution."""

import math

import attrs
import pytest
import torch
from lifelong_co_plugins.objectives.best_of import lengths

import lifelong_co as lco


@pytest.mark.parametrize(
    ("compared", "ranks"),
    [(2, (0, 3)), (3, (0, 2, 4)), (4, (0, 1, 3, 4)), (6, range(6)), (99, range(6))],
)
def test_loss_and_gradient_by_hand(drawn, compared, ranks):
    """A loop over the chosen ranks of each instance; lengths differ."""
    actions = drawn.actions.clone()
    actions[1, :, 4:], actions[2, 0, 3:] = 0, 0
    rollout = attrs.evolve(drawn, actions=actions)
    length = [[7] * 6, [5] * 6, [4, 7, 7, 7, 7, 7]]
    loss = lco.objective("best-of", None, compared=compared).loss(None, rollout)
    total, gradient = 0.0, torch.zeros(3, 6, dtype=torch.float64)
    cost, likelihood = drawn.cost.tolist(), drawn.log_likelihood.tolist()
    pairs = 3 * (len(ranks) - 1)
    for b in range(3):
        order = sorted(range(6), key=lambda i: cost[b][i])
        best = order[0]
        for worse in (order[rank] for rank in ranks[1:]):
            ratio = cost[b][worse] / cost[b][best]
            if ratio == 1:  # the first instance has two best trajectories
                continue
            average = [one / steps for one, steps in zip(likelihood[b], length[b], strict=True)]
            margin = ratio * (average[best] - average[worse])
            total += math.log1p(math.exp(-margin)) / pairs
            slope = ratio / (1 + math.exp(margin)) / pairs
            gradient[b, best] -= slope / length[b][best]
            gradient[b, worse] += slope / length[b][worse]
    assert loss.item() == pytest.approx(total, rel=1e-12)
    [found] = torch.autograd.grad(loss, drawn.log_likelihood)
    torch.testing.assert_close(found, gradient)


def test_sixteen_are_compared_by_default(made):
    """As in the authors' command; eight would give another loss."""
    stream = torch.Generator().manual_seed(0)
    cost, likelihood = torch.rand(2, 2, 32, generator=stream, dtype=torch.float64) + 1
    rollout = made(cost, -likelihood)
    losses = [
        lco.objective("best-of", None, **options).loss(None, rollout).item()
        for options in ({}, {"compared": 16}, {"compared": 8})
    ]
    assert losses[0] == losses[1]
    assert abs(losses[0] - losses[2]) > 1e-3


def test_unit_of_the_costs_does_not_matter(drawn):
    """The ratio takes it out; a constant that is added, or other ratios, change the loss."""
    objective = lco.objective("best-of", None)
    loss = objective.loss(None, drawn)
    torch.testing.assert_close(objective.loss(None, attrs.evolve(drawn, cost=7 * drawn.cost)), loss)
    moved = objective.loss(None, attrs.evolve(drawn, cost=drawn.cost + 3))
    assert abs(moved.item() - loss.item()) > 1e-6


def test_length_counts_one_of_the_equal_last_actions():
    """The CVRP's depot fills a batch; the length does not depend on the longest solution."""
    actions = torch.tensor([[[0, 2, 0, 1, 0, 0, 0], [0, 2, 1, 0, 0, 0, 0], [0, 1, 0, 2, 0, 3, 0]]])
    assert lengths(actions).tolist() == [[5, 4, 7]]
    assert lengths(torch.tensor([[[3, 1, 2, 0]]])).tolist() == [[4]]
    assert lengths(torch.tensor([[[0]]])).tolist() == [[1]]


def test_compared_must_be_two_or_more():
    """The message names objective and option."""
    with pytest.raises(lco.ConfigError, match="'best-of': compared: expected at least 2, got 1"):
        lco.objective("best-of", None, compared=1)
