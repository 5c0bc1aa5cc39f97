"""Packing of a behavior: the log-probabilities of feasible actions, and bits that say which.

An infeasible action has -inf, and about half of all actions are infeasible, those of visited nodes.
So this is half as large as all log-probabilities. Rows stay rows, so that some of them can be
unpacked alone; a row with fewer feasible actions than another is filled with zeros.

On the CPU numpy does it, several times as fast as torch; on other devices torch does.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from lifelong_co.tensors.bit_packing import pack_bits, unpack_bits

Array = np.ndarray[Any, Any]
HALF = np.array(-np.inf, np.float16).view(np.int16)
"""The bits of -inf in half precision; numpy compares integers ten times as fast."""


def pack_behavior(behavior: Tensor) -> tuple[Tensor, Tensor]:
    """Return the values ``[B, M]`` of feasible actions and the bits of all ``S A`` actions.

    ``behavior`` is ``[B, S, A]`` in half or double precision, and ``M`` the most feasible actions
    of a row. The bits are uint8 ``[B, ceil(S A / 8)]``.
    """
    flat = behavior.reshape(len(behavior), -1)
    if flat.device.type != "cpu":
        return pack_on_device(flat)
    numbers = flat.numpy()
    half = numbers.dtype == np.float16
    feasible = numbers.view(np.int16) != HALF if half else numbers != -np.inf
    bits = pack_bits(torch.from_numpy(feasible))
    # By indices of a flat array: five times as fast as by a mask.
    values = numbers.ravel()[np.flatnonzero(feasible)]
    return torch.from_numpy(in_rows(values, counted(bits))), bits


def unpack_behavior(values: Tensor, bits: Tensor, shape: tuple[int, int]) -> Tensor:
    """Undo `pack_behavior` for ``b`` rows; ``shape`` is ``(S, A)``."""
    feasible = unpack_bits(bits, shape[0] * shape[1])
    if values.device.type != "cpu":
        return unpack_on_device(values, feasible).view(-1, *shape)
    rows = values.numpy()
    found = np.full(feasible.shape, -np.inf, rows.dtype)
    found.ravel()[np.flatnonzero(feasible.numpy())] = in_one_row(rows, counted(bits))
    return torch.from_numpy(found).view(-1, *shape)


def counted(bits: Tensor) -> Array:
    """Return how many bits of each row are 1, ``[b]``."""
    counts: Array = np.bitwise_count(bits.numpy()).sum(axis=1, dtype=np.int64)
    return counts


def in_rows(values: Array, counts: Array) -> Array:
    """Return values as rows of ``counts`` values each, filled with zeros to the longest."""
    if (counts == counts[0]).all():
        return values.reshape(len(counts), -1)
    rows = np.zeros((len(counts), counts.max()), values.dtype)
    for row, count, end in zip(rows, counts, counts.cumsum(), strict=True):
        row[:count] = values[end - count : end]
    return rows


def in_one_row(rows: Array, counts: Array) -> Array:
    """Undo `in_rows`."""
    if (counts == rows.shape[1]).all():
        return rows.reshape(-1)
    return np.concatenate([row[:count] for row, count in zip(rows, counts, strict=True)])


def pack_on_device(flat: Tensor) -> tuple[Tensor, Tensor]:
    """Do what `pack_behavior` does for ``[B, S A]``, by torch on any device."""
    feasible = flat != -torch.inf
    counts = feasible.sum(dim=1, keepdim=True)
    filled = torch.arange(int(counts.max()), device=flat.device) < counts
    values = torch.zeros(filled.shape, dtype=flat.dtype, device=flat.device)
    return values.masked_scatter(filled, flat[feasible]), pack_bits(feasible)


def unpack_on_device(values: Tensor, feasible: Tensor) -> Tensor:
    """Return the behavior ``[b, S A]`` by torch on any device; ``feasible`` has its shape."""
    if not values.shape[1]:
        return torch.full(feasible.shape, -torch.inf, dtype=values.dtype, device=values.device)
    places = (feasible.cumsum(dim=1) - 1).clamp_(min=0)  # a mask as an index would wait for a GPU
    return values.gather(1, places).masked_fill_(~feasible, -torch.inf)
