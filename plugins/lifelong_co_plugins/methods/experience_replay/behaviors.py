"""The learner's behavior in replayed states."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from lifelong_co.protocols import Solver
from lifelong_co.replay.joined import joined_state
from lifelong_co.rollout.one_pass import ROWS, side_by_side
from lifelong_co.tensors import records
from lifelong_co.tensors.modules import normalises_over_batch
from lifelong_co_plugins.methods.experience_replay.recorded_queries import encoded
from lifelong_co_plugins.methods.experience_replay.replayed import Replayed


def share_of_rows(module: nn.Module, asked: float) -> float:
    """Return the share of a batch's instances to replay: the share that was asked for, or all.

    All, if the network normalises over the batch: the recorded behavior is that of the whole batch,
    and a part of the batch would have another one even with the same parameters.
    """
    return 1.0 if normalises_over_batch(module) else asked


def behavior(solver: Solver, replayed: Replayed) -> Tensor:
    """Return the learner's log-probs ``[R, S, A]`` on bundles of one size, in one encoder pass."""
    bundles = replayed.bundles
    encoding = encoded(solver, bundles)
    # An encoding is decoded as a whole: a bundle without such a step repeats its last one.
    states = [
        joined_state([(b.steps[min(j, len(b.steps) - 1)], b.rows) for b in bundles])
        for j in range(max(len(bundle.steps) for bundle in bundles))
    ]
    # A GPU decodes many states as fast as few. On a CPU it would cost memory and save nothing.
    together = bundles[0].steps[0].device.type != "cpu" and not replayed.each_alone
    log_probs = decoded(solver, encoding, states, together=together)
    parts = zip(*(each.split([b.count for b in bundles]) for each in log_probs), strict=True)
    return torch.cat(
        [
            each
            for bundle, own in zip(bundles, parts, strict=True)
            for each in own[: len(bundle.steps)]
        ]
    )


def decoded(
    solver: Solver, encoding: Any, states: Sequence[Any], *, together: bool
) -> list[Tensor]:
    """Return the log-probs ``[R, S, A]`` of each state, one by one or many states at once."""
    if not together:
        return [solver.log_probs(encoding, state) for state in states]
    R, S = next(iter(records.tensors(states[0]).values())).shape[:2]
    at_once = max(1, ROWS // (R * S))
    found: list[Tensor] = []
    for first in range(0, len(states), at_once):
        part = states[first : first + at_once]
        log_probs = solver.log_probs(encoding, side_by_side(part))  # [R, t * S, A]
        found += log_probs.unflatten(1, (len(part), S)).unbind(dim=1)
    return found
