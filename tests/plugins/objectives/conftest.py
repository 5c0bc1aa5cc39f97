"""Rollouts with given costs and log-likelihoods."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from lifelong_co.protocols import Rollout

Make = Callable[..., Rollout]


@pytest.fixture
def made() -> Make:
    """Return a function that makes a rollout in float64; actions are ``T`` different nodes."""

    def make(cost: Tensor, log_likelihood: Tensor, actions: Tensor | None = None) -> Rollout:
        if actions is None:
            actions = torch.arange(7).expand(*cost.shape, 7)
        return Rollout(actions=actions, cost=cost, log_likelihood=log_likelihood)

    return make


@pytest.fixture
def drawn(made: Make) -> Rollout:
    """Return a rollout ``[3, 6]`` with two equal costs in the first instance."""
    stream = torch.Generator().manual_seed(0)
    cost = 1 + torch.rand(3, 6, generator=stream, dtype=torch.float64)
    cost[0, 2] = cost[0, 4]
    log_likelihood = -9 * torch.rand(3, 6, generator=stream, dtype=torch.float64)
    return made(cost, log_likelihood.requires_grad_())
