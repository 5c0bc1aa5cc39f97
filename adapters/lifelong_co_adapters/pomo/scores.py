"""Scores of attention, and the parts of a batch for which they are computed at once."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from lifelong_co.tensors.precision import not_half
from lifelong_co_adapters.pomo.masks import minus_infinity


def plain(query: Tensor, key: Tensor, value: Tensor, feasible: Tensor | None) -> Tensor:
    """Return `attention` by plain products, which keep the weights for the backward pass."""
    scores = score(by_head(query), key.flatten(0, 1), forbidden(feasible, query.dtype))
    weights = scores.softmax(dim=2).to(value.dtype)
    return by_place(torch.bmm(weights, value.flatten(0, 1)), len(query))


def score(
    query: Tensor,
    key: Tensor,
    forbid: Tensor | None,
    base: float = math.e,
    out: Tensor | None = None,
) -> Tensor:
    """Return the scores: logarithms of attention weights plus a constant, ``[B * H, S, A]``.

    Parameters
    ----------
    query, key
        ``[B * H, S, d]`` and ``[B * H, A, d]``.
    forbid
        The mask from `forbidden`, ``[B, S, A]``.
    base
        The base of the logarithms.
    out
        Where to write the scores; None: to a new tensor.
    """
    nothing, scale = query.new_zeros((1, 1, 1)), 1 / math.sqrt(query.shape[2]) / math.log(base)
    key = key.transpose(1, 2)
    scores = not_half(torch.baddbmm(nothing, query, key, beta=0, alpha=scale, out=out))
    if forbid is not None:
        scores.view(len(forbid), -1, *forbid.shape[1:]).add_(forbid[:, None])
    return scores


def forbidden(feasible: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """Return the mask that is added to scores, ``[B, S, A]``; None if ``feasible`` is None."""
    return None if feasible is None else minus_infinity(~feasible, dtype)


def by_head(each: Tensor) -> Tensor:
    """Return ``[B, S, H, d]`` as ``[B * H, S, d]``."""
    return each.transpose(1, 2).flatten(0, 1)


def by_place(each: Tensor, B: int) -> Tensor:
    """Return ``[B * H, S, d]`` as ``[B, S, H, d]``."""
    return each.view(B, -1, *each.shape[1:]).transpose(1, 2)


def parts(query: Tensor, key: Tensor, B: int, most: int) -> Iterator[tuple[slice, slice]]:
    """Yield the parts of a batch as slices of ``B`` (instances) and of ``B * H`` (their heads).

    A part has at most ``most`` scores, or is a single instance. Queries are ``[B * H, S, d]``, keys
    ``[B * H, A, d]``.
    """
    H = len(query) // B
    at_once = instances_at_once(H, query.shape[1], key.shape[1], most)
    for first in range(0, B, at_once):
        last = first + at_once
        yield slice(first, last), slice(first * H, last * H)


def instances_at_once(H: int, S: int, A: int, most: int) -> int:
    """Return the number of instances in a part of ``most`` scores, at least 1."""
    return max(1, most // (H * S * A))


def of(each: Tensor | None, part: slice) -> Tensor | None:
    """Return a part of a tensor, or None for None."""
    return None if each is None else each[part]
