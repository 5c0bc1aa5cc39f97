"""A sampled rollout whose log-likelihood is learned in one pass instead of step by step.

The usual rollout keeps every step's graph for the backward pass: some twenty kernels forward and
forty backward for each of up to ``2 n`` steps. Here the actions are chosen without gradients, and
then all states are decoded at once, as if each step were another trajectory: the same sum of
log-probabilities, and the same gradients up to rounding, in a hundred kernels. It decodes twice,
so it pays where launching kernels is what takes the time: on a GPU. It encodes twice, too: running
statistics of a normalisation, if a solver keeps any, move twice a step.
"""

from collections.abc import Sequence
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.protocols import Observer, Rollout, Solver
from lifelong_co.tensors import records

# States decoded at once; CUDA's fused attention takes no batch of 65,536 or more.
ROWS = 60_000


def one_pass(
    solver: Solver,
    instances: Any,
    *,
    generator: torch.Generator | None = None,
    observe: Observer | None = None,
) -> Rollout:
    """Return what ``solver.rollout(instances, "sample")`` returns, differentiable alike.

    Parameters
    ----------
    solver
        Its `log_probs` of a state depends on nothing but the instances and the state: on no other
        state beside it, as INViT's does with ``batchnorm``.
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
        The ``T`` states ``[B, S, ...]`` that they were taken in.
    """
    B, S, T = taken.shape
    encoding, at_once = solver.encode(instances), max(1, ROWS // (B * S))
    found = torch.zeros_like(taken[..., 0], dtype=torch.float32)
    for first in range(0, T, at_once):
        joined = side_by_side(states[first : first + at_once])
        log_probs = solver.log_probs(encoding, joined)  # [B, t * S, A]
        action = taken[..., first : first + at_once].transpose(1, 2).reshape(B, -1, 1)
        found = found + log_probs.gather(2, action).view(B, -1, S).sum(dim=1)
    return found


def side_by_side(states: Sequence[Any]) -> Any:
    """Return states ``[B, S, ...]`` as one of ``t S`` trajectories."""
    build: Any = type(states[0])
    fields = [records.tensors(state) for state in states]
    return build(**{name: torch.cat([f[name] for f in fields], dim=1) for name in fields[0]})
