"""Rows of several experiences as one batch, joined while they are packed.

So a training step unpacks all that it replays at once. On a GPU each operation takes the same time
for a few rows as for all, and a step replays some forty experiences.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from lifelong_co.replay.behavior_packing import unpack_behavior
from lifelong_co.replay.experience import BEHAVIOR, FEASIBLE, PackedExperience
from lifelong_co.replay.state_packing import unpack
from lifelong_co.tensors import records

Chosen = Sequence[tuple[PackedExperience, Tensor | slice]]
"""Experiences of one shape ``[S, A]``, each with the rows to take: long ``[b]`` or a slice."""


def joined_state(chosen: Chosen) -> Any:
    """Return the states ``[R, S, ...]`` of all chosen rows, one experience after another."""
    first = chosen[0][0]
    names = list(first.states)
    if any(list(step.states) != names for step, _ in chosen):  # some lack a field
        return records.concatenate([step.state(rows) for step, rows in chosen])
    packed = {name: torch.cat([step.packed[name][rows] for step, rows in chosen]) for name in names}
    return first.state_type(**{k: unpack(x, first.shapes.get(k)) for k, x in packed.items()})


def joined_log_probs(chosen: Chosen) -> Tensor:
    """Return the recorded log-probs ``[R, S, A]`` of all chosen rows, in the same order."""
    first = chosen[0][0]
    values = padded([step.packed[BEHAVIOR][rows] for step, rows in chosen])
    bits = torch.cat([step.packed[FEASIBLE][rows] for step, rows in chosen])
    return unpack_behavior(values, bits, first.trajectories_and_actions).to(first.precision)


def padded(parts: Sequence[Tensor]) -> Tensor:
    """Join rows ``[b, M]`` of different lengths ``M``, filled with zeros to the longest."""
    longest = max(part.shape[1] for part in parts)
    found = parts[0].new_zeros((sum(map(len, parts)), longest))
    for place, part in zip(found.split([len(part) for part in parts]), parts, strict=True):
        place[:, : part.shape[1]] = part
    return found
