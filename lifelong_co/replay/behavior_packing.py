"""Packing of a behavior: the log-probabilities of feasible actions, and bits that say which.

An infeasible action has -inf, and about half of all actions are infeasible, those of visited nodes.
So this is half as large as all log-probabilities. Rows stay rows, so that some of them can be
unpacked alone; a row with fewer feasible actions than another is filled with zeros.
"""

import numpy as np
import torch
from torch import Tensor

from lifelong_co.tensors.bit_packing import pack_bits, unpack_bits


def pack_behavior(behavior: Tensor) -> tuple[Tensor, Tensor]:
    """Return the values ``[B, M]`` of feasible actions and the bits of all ``S A`` actions.

    ``behavior`` is ``[B, S, A]``, of a type that numpy knows, and ``M`` the most feasible actions
    of a row. The bits are uint8 ``[B, ceil(S A / 8)]``.
    """
    flat = behavior.reshape(len(behavior), -1)
    feasible = flat != -torch.inf
    counts = feasible.sum(dim=1)
    most = int(counts.max())
    return moved(flat, feasible, filled_places(counts, most), 0.0), pack_bits(feasible)


def unpack_behavior(values: Tensor, bits: Tensor, shape: tuple[int, int]) -> Tensor:
    """Undo `pack_behavior` for ``b`` rows; ``shape`` is ``(S, A)``."""
    feasible = unpack_bits(bits, shape[0] * shape[1])
    filled = filled_places(feasible.sum(dim=1), values.shape[1])
    return moved(values, filled, feasible, -torch.inf).view(-1, *shape)


def filled_places(counts: Tensor, width: int) -> Tensor:
    """Return bool ``[b, width]``: the first places of each row, as many as are counted."""
    return torch.arange(width, device=counts.device) < counts[:, None]


def moved(source: Tensor, here: Tensor, there: Tensor, fill: float) -> Tensor:
    """Return the chosen elements of ``source`` at other places of their rows, in their order.

    Both masks choose the same number of each row. All other places have the value ``fill``.
    """
    if source.device.type != "cpu":
        return moved_on_device(source, here, there, fill)
    found = np.full(there.shape, fill, dtype=source.numpy().dtype)
    found[there.numpy()] = source.numpy()[here.numpy()]  # several times as fast as torch
    return torch.from_numpy(found)


def moved_on_device(source: Tensor, here: Tensor, there: Tensor, fill: float) -> Tensor:
    """Do what `moved` does, by torch on any device."""
    found = torch.full(there.shape, fill, dtype=source.dtype, device=source.device)
    return found.masked_scatter(there, source[here])
