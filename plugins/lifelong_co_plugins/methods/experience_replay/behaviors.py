"""The learner's behavior in replayed states."""

import torch
from torch import Tensor, nn

from lifelong_co.protocols import Solver
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
    counts = [bundle.count for bundle in bundles]
    found: list[list[Tensor]] = [[] for _ in bundles]
    for j in range(max(len(bundle.steps) for bundle in bundles)):
        # An encoding is decoded as a whole: a bundle without such a step repeats its last one.
        states = [
            bundle.steps[min(j, len(bundle.steps) - 1)].state(bundle.rows) for bundle in bundles
        ]
        log_probs = solver.log_probs(encoding, records.concatenate(states)).split(counts)
        for bundle, own, part in zip(bundles, found, log_probs, strict=True):
            if j < len(bundle.steps):
                own.append(part)
    return torch.cat([part for own in found for part in own])
