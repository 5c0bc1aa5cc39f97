"""Attention in several heads, in the way that is fastest where it runs.

PyTorch's fused kernel for the CPU (2.13) does not get faster by a second thread; plain products do.
Of many actions they take a part of the batch at a time, so that its scores stay in the caches, and
none are kept: each of the up to ``2 n`` steps of a rollout would keep its own. For the backward
pass they are computed again.
"""

import math
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from lifelong_co.gpu.precision import not_half
from lifelong_co_adapters.pomo.masks import minus_infinity

# Up to how many actions scores are few, and torch's softmax is as fast as ours.
FEW = 64
# Scores of a part of the batch, if an instance has no more.
PART = 2**19
# Up to how many scores of an instance a CPU computes at once; beyond, the fused kernel bounds
# memory.
SCORES = 2**24


def attention(query: Tensor, key: Tensor, value: Tensor, feasible: Tensor | None = None) -> Tensor:
    """Return what each query attends to, ``[B, S, H, d]``.

    Parameters
    ----------
    query
        ``[B, S, H, d]``.
    key, value
        ``[B, H, A, d]``; contiguous where many steps share them, so that none copies them.
    feasible
        Bool ``[B, S, A]``: what each query may attend to, with every head. Everything when None.
    """
    _, H, A, _ = key.shape
    if key.device.type != "cpu" or query.shape[1] * H * A > SCORES:
        mask = None if feasible is None else minus_infinity(~feasible, query.dtype)[:, None]
        attended = F.scaled_dot_product_attention(query.transpose(1, 2), key, value, attn_mask=mask)
        return attended.transpose(1, 2)
    if A <= FEW:
        return plain(query, key, value, feasible)
    if torch.is_grad_enabled():
        return Attention.apply(query, key, value, feasible)  # type: ignore[no-any-return, no-untyped-call]
    return in_parts(query, key, value, feasible)


def plain(query: Tensor, key: Tensor, value: Tensor, feasible: Tensor | None) -> Tensor:
    """Return `attention` by products whose weights are kept for the backward pass."""
    scores = score(by_head(query), key.flatten(0, 1), feasible)
    weights = scores.softmax(dim=2).to(value.dtype)
    return by_place(torch.bmm(weights, value.flatten(0, 1)), len(query))


def by_head(each: Tensor) -> Tensor:
    """Return ``[B, S, H, d]`` as ``[B * H, S, d]``."""
    return each.transpose(1, 2).flatten(0, 1)


def by_place(each: Tensor, B: int) -> Tensor:
    """Return ``[B * H, S, d]`` as ``[B, S, H, d]``."""
    return each.view(B, -1, *each.shape[1:]).transpose(1, 2)


def score(query: Tensor, key: Tensor, feasible: Tensor | None, base: float = math.e) -> Tensor:
    """Return the logarithms of attention weights to a base but for a constant, ``[B * H, S, A]``.

    Of queries ``[B * H, S, d]`` and keys ``[B * H, A, d]``.
    """
    nothing, scale = query.new_zeros((1, 1, 1)), 1 / math.sqrt(query.shape[2]) / math.log(base)
    scores = not_half(torch.baddbmm(nothing, query, key.transpose(1, 2), beta=0, alpha=scale))
    if feasible is not None:
        forbid = minus_infinity(~feasible, scores.dtype)
        scores.view(len(forbid), -1, *forbid.shape[1:]).add_(forbid[:, None])
    return scores


def in_parts(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    feasible: Tensor | None,
    sums: Tensor | None = None,
) -> Tensor:
    """Return `attention` by parts of the batch; its weights are powers of two.

    (Torch's `softmax` takes longer than the passes that it consists of; see
    `lifelong_co.probabilities`.) The logarithms of their sums, to base 2, are written to ``sums``
    ``[B, H, S, 1]``.
    """
    attended = torch.empty_like(query, memory_format=torch.contiguous_format)
    for part in parts(query, key):
        keys, values = key[part].flatten(0, 1), value[part].flatten(0, 1)
        scores = score(by_head(query[part]), keys, of(feasible, part), base=2)
        most = scores.amax(dim=2, keepdim=True)
        weights = scores.sub_(most).exp2_()
        total = weights.sum(dim=2, keepdim=True)
        found = attended[part]
        gathered = torch.bmm(weights.to(values.dtype), values).div_(total)
        found.copy_(by_place(gathered, len(found)))
        if sums is not None:
            sums[part] = (most + total.log2()).view_as(sums[part])
    return attended


class Attention(torch.autograd.Function):
    """`in_parts`, which keeps no more than what it was given and the sums of weights."""

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, feasible: Tensor | None
    ) -> Tensor:
        """Return what the queries attend to."""
        B, S, H, _ = query.shape
        sums = not_half(query.new_empty((B, H, S, 1)))
        attended = in_parts(query, key, value, feasible, sums)
        ctx.save_for_backward(query, key, value, feasible, sums)
        return attended

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of queries, keys and values, themselves differentiable."""
        *given, feasible, sums = ctx.saved_tensors  # query, key and value first
        wanted = ctx.needs_input_grad[:3]
        if torch.is_grad_enabled():  # the gradient will be differentiated: torch knows how
            learned = [each for each, wants in zip(given, wanted, strict=True) if wants]
            attended = plain(given[0], given[1], given[2], feasible)
            found = iter(torch.autograd.grad(attended, learned, grad, create_graph=True))
            return *(next(found) if wants else None for wants in wanted), None
        grads = [
            torch.empty_like(each, memory_format=torch.contiguous_format) if wants else None
            for each, wants in zip(given, wanted, strict=True)
        ]
        for part in parts(given[0], given[1]):
            query, key, value = by_head(given[0][part]), *(x[part].flatten(0, 1) for x in given[1:])
            scores = score(query, key, of(feasible, part), base=2)
            weights = scores.sub_(sums[part].flatten(0, 1)).exp2_().to(value.dtype)
            write_gradients(
                weights, query, key, value, by_head(grad[part]), [of(x, part) for x in grads]
            )
        return *grads, None


def write_gradients(
    weights: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    grad: Tensor,
    places: list[Tensor | None],
) -> None:
    """Write the gradients of queries, keys and values to where there are places for them."""
    nothing, scale = query.new_zeros((1, 1, 1)), 1 / math.sqrt(query.shape[2])
    to_query, to_key, to_value = places
    if to_value is not None:
        torch.bmm(weights.transpose(1, 2), grad, out=to_value.flatten(0, 1))
    weighted = torch.bmm(grad, value.transpose(1, 2))
    scores = torch._softmax_backward_data(weighted, weights, 2, weights.dtype)
    if to_query is not None:
        found = torch.baddbmm(nothing, scores, key, beta=0, alpha=scale)
        to_query.copy_(by_place(found, len(to_query)))
    if to_key is not None:
        turned = scores.transpose(1, 2)
        torch.baddbmm(nothing, turned, query, beta=0, alpha=scale, out=to_key.flatten(0, 1))


def parts(query: Tensor, key: Tensor) -> Iterator[slice]:
    """Go through the batch, with at most `PART` scores at a time but for a single instance's."""
    at_once = max(1, PART // (query.shape[1] * key.shape[1] * key.shape[2]))
    return (slice(first, first + at_once) for first in range(0, len(query), at_once))


def of(each: Tensor | None, part: slice) -> Tensor | None:
    """Return a part of what there may be."""
    return None if each is None else each[part]
