"""A sampled rollout whose log-likelihood is learned in one pass instead of step by step.

The usual rollout keeps the graph of every step for the backward pass: many small kernels, forward
and backward, for each of up to ``2 n`` steps. Here the actions are chosen without gradients. Then
all states are decoded at once, as if each step were another trajectory. The sum of the
log-probabilities is the same, and so are the gradients up to rounding, with far fewer kernels.
Every state is decoded twice, so this is faster only where launching kernels takes most of the time,
that is on a GPU. Instances are encoded twice, too: if the solver keeps running statistics, they are
updated twice per step.
"""

from collections.abc import Sequence
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.protocols import Observer, Rollout, Solver
from lifelong_co.tensors import records
from lifelong_co.tensors.precision import not_half

# States decoded at once; CUDA's fused attention does not accept batches of 65,536 or more.
ROWS = 60_000


def one_pass(
    solver: Solver,
    instances: Any,
    *,
    generator: torch.Generator | None = None,
    observe: Observer | None = None,
) -> Rollout:
    """Return the same differentiable result as ``solver.rollout(instances, "sample")``.

    Parameters
    ----------
    solver
        Its `log_probs` of a state must depend only on the instances and on that state. INViT with
        the option ``batchnorm`` does not fit: there they depend on the other states, too.
    generator, observe
        As for `Solver.rollout`.
    """
    states: list[Any] = []

    def remember(state: Any, log_probs: Tensor) -> None:
        states.append(state)
        if observe is not None:
            observe(state, log_probs)

    with torch.no_grad():
        found = solver.rollout(instances, "sample", generator=generator, observe=remember)
    if not states:
        return found
    taken = found.actions[..., -len(states) :]  # [B, S, T], without the forced ones
    return attrs.evolve(found, log_likelihood=likelihood(solver, instances, states, taken))


def likelihood(solver: Solver, instances: Any, states: Sequence[Any], taken: Tensor) -> Tensor:
    """Return ``[B, S]``: the sum of the log-probabilities of ``T`` actions, long ``[B, S, T]``.

    Parameters
    ----------
    states
        The ``T`` states ``[B, S, ...]`` in which the actions were taken.
    """
    B, S, T = taken.shape
    encoding, at_once = solver.encode(instances), max(1, ROWS // (B * S))
    found = torch.zeros_like(taken[..., 0], dtype=torch.float32)
    for first in range(0, T, at_once):
        joined = side_by_side(states[first : first + at_once])
        log_probs = not_half(solver.log_probs(encoding, joined))  # [B, t * S, A]
        action = taken[..., first : first + at_once].transpose(1, 2).reshape(B, -1, 1)
        found = found + log_probs.gather(2, action).view(B, -1, S).sum(dim=1)
    return found


def side_by_side(states: Sequence[Any]) -> Any:
    """Join ``t`` states ``[B, S, ...]`` to one state of ``t S`` trajectories."""
    return records.concatenate(states, dim=1)
