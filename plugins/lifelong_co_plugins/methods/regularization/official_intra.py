"""The divergence within a task as the official code of LiBOG computes it.

Source: LLR-BC at 9ae601f, ``_train_one_batch`` and ``compute_kl_divergence`` of
``CVRPTrainer_LiBOG`` and ``TSPTrainer_LiBOG``.
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from lifelong_co.protocols import Rollout, Solver
from lifelong_co.tensors.probabilities import probabilities
from lifelong_co_plugins.methods.regularization.exemplar import Exemplar

LEAST = 1e-8


def clamped_rkl(teacher: Tensor, learner: Tensor) -> Tensor:
    """Return ``sum Q log(Q / (P + 1e-8))``, both clamped to at least 1e-8: ``[..., A] -> [...]``.

    ``P`` is the teacher and ``Q`` the learner, as log-probabilities. An action that is infeasible
    for both counts ``-1e-8 log 2``.
    """
    p, q = (probabilities(each).clamp(LEAST, 1.0) for each in (teacher, learner))
    return (q * (q.log() - (p + LEAST).log())).sum(dim=-1)


def official_divergences(exemplar: Exemplar, solver: Solver, rollout: Rollout) -> Iterator[Tensor]:
    """Yield scalars with separate graphs that sum to the official divergence of a rollout.

    It is the sum of `clamped_rkl` over all ``T`` steps and ``B S`` trajectories, divided by
    ``B S A``. The learner is in the state before a step. In the TSP the exemplar is in the same
    state; in the CVRP, and so here in every problem with a depot, it is in the state *after* the
    step. In a forced step both behaviors are uniform, ``1 / (n + 1)`` for each action; these steps
    have no gradient, but they count in the loss by which epochs are compared. The exemplar is the
    teacher.
    """
    states, instances, problem = exemplar.states, exemplar.instances, solver.problem
    if not states:
        return
    B, S, T = rollout.actions.shape
    A, forced = exemplar.actions, T - len(states)
    uniform = rollout.cost.new_full((B, S, A), -math.log(1 + problem.size(instances)))
    ahead, constant = None, forced * clamped_rkl(uniform, uniform).sum()
    if hasattr(instances, "depot"):
        ahead = [*states[1:], problem.step(instances, states[-1], rollout.actions[..., -1])]
        if forced:  # after the last forced step the exemplar is at the first unforced one
            first = clamped_rkl(exemplar.behavior(solver, states[0]), uniform)
            constant = constant + (first - clamped_rkl(uniform, uniform)).sum()
    for part in exemplar.sums(solver, clamped_rkl, ahead):
        yield (part + constant) / (B * S * A)
        constant = torch.zeros_like(constant)
