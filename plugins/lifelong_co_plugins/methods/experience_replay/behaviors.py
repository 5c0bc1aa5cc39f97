"""The learner's behavior in replayed states."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from lifelong_co.protocols import Solver
from lifelong_co.replay.joined import joined_state
from lifelong_co.rollout.one_pass import ROWS, side_by_side
from lifelong_co.tensors.precision import not_half
from lifelong_co_plugins.methods.experience_replay.recorded_queries import encoded
from lifelong_co_plugins.methods.experience_replay.replayed import Replayed


def behavior(solver: Solver, replayed: Replayed) -> Tensor:
    """Return the learner's log-probs ``[R, S, A]`` on bundles of one size, in one encoder pass."""
    bundles = replayed.bundles
    encoding = encoded(solver, bundles)
    longest = max(len(bundle.steps) for bundle in bundles)
    # An encoding is decoded as a whole: a bundle without such a step repeats its last one.
    states = (
        joined_state([(b.steps[min(j, len(b.steps) - 1)], b.rows) for b in bundles])
        for j in range(longest)
    )
    counts = [bundle.count for bundle in bundles]
    log_probs = decoded(solver, encoding, states, at_once(replayed))
    parts = zip(*(each.split(counts) for each in log_probs), strict=True)
    pairs = zip(bundles, parts, strict=True)
    return torch.cat([each for bundle, own in pairs for each in own[: len(bundle.steps)]])


def at_once(replayed: Replayed) -> int:
    """Return how many steps are decoded together: a GPU decodes many as fast as one."""
    first = replayed.bundles[0].steps[0]
    if first.device.type == "cpu" or replayed.each_alone:
        return 1
    rows = sum(bundle.count for bundle in replayed.bundles)
    return max(1, ROWS // (rows * first.trajectories_and_actions[0]))


def decoded(solver: Solver, encoding: Any, states: Iterable[Any], at_once: int) -> list[Tensor]:
    """Return the log-probs ``[R, S, A]`` of states ``[R, S, ...]``, so many of them together."""
    found: list[Tensor] = []
    source = iter(states)
    while part := list(islice(source, at_once)):
        state = side_by_side(part) if len(part) > 1 else part[0]
        log_probs = not_half(solver.log_probs(encoding, state))  # [R, t * S, A]
        found += log_probs.unflatten(1, (len(part), -1)).unbind(dim=1)
    return found
