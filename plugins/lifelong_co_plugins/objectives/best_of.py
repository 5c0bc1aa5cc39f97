"""BOPO: the best trajectory of an instance should be likelier than the others."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from lifelong_co.errors import ConfigError
from lifelong_co.protocols import Objective, Rollout, Solver
from lifelong_co_plugins.objectives.checks import require_several

LEAST_COST = 1e-8
"""Least divisor in the ratio of two costs: all nodes of an instance can lie in one point."""


def best_of(solver: Solver, compared: int = 16) -> Objective:  # noqa: ARG001
    """Return the objective of BOPO (Liao et al. 2025, ICML, arXiv 2503.07580).

    The best trajectory ``y_w`` of an instance is paired with ``K - 1`` worse ones ``y_l``::

        L = -mean over pairs of  log sigmoid(g(y_l) / g(y_w) (l(y_w) / |y_w| - l(y_l) / |y_l|))

    The formula is that of two third-party implementations, which agree with each other; the
    authors' code was not available. ``g`` is the cost, ``l`` the log-likelihood and ``|y|`` the
    number of actions. The ``K`` trajectories are uniform by rank: of the sorted ones, every
    ``S / K``-th from the best on.

    The paper's "hybrid rollout" adds a greedy trajectory to the sampled ones; this is left out, so
    that a run samples the same solutions with every objective. Two more choices are ours. A pair of
    equal costs, to the bit, counts 0, because neither is better; the paper does not say. ``|y|``
    counts forced actions, and one of the equal actions at the end that fill a batch (the CVRP's
    depot).

    The ratio of costs makes it independent of their unit. A constant added to all costs changes it.

    Parameters
    ----------
    compared
        ``K``, at least 2; all ``S`` are compared if there are fewer. The authors' command for
        scheduling has 16 of 256.

    Raises
    ------
    ConfigError
        If ``compared`` is out of its range, or in a run if a solver has one trajectory.
    """
    if compared < 2:
        raise ConfigError(f"objective 'best-of': compared: expected at least 2, got {compared!r}")

    def loss(instances: Any, rollout: Rollout) -> Tensor:  # noqa: ARG001
        require_several("best-of", rollout)
        average = rollout.log_likelihood / lengths(rollout.actions)
        return best_of_loss(rollout.cost, average, compared)

    return Objective(loss=loss)


def best_of_loss(cost: Tensor, average: Tensor, compared: int) -> Tensor:
    """Return the loss, a scalar, of costs and average log-likelihoods ``[B, S]``."""
    S = cost.shape[1]
    K = min(compared, S)
    ranks = torch.arange(K, device=cost.device) * S // K
    chosen = cost.argsort(dim=1, stable=True)[:, ranks]  # [B, K]
    cost, average = cost.gather(1, chosen), average.gather(1, chosen)
    best, worse = cost[:, :1], cost[:, 1:]
    ratio = worse / best.clamp(min=LEAST_COST)
    margin = ratio * (average[:, :1] - average[:, 1:])
    return -((worse > best).to(margin.dtype) * functional.logsigmoid(margin)).mean()


def lengths(actions: Tensor) -> Tensor:
    """Return the number of actions ``[B, S]`` of ``[B, S, T]``; of equal last ones, only one."""
    T = actions.shape[-1]
    steps = torch.arange(2, T + 2, device=actions.device)
    return ((actions != actions[..., -1:]) * steps).amax(dim=-1).clamp(min=1)
