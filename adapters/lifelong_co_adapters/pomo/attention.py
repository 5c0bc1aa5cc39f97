"""Attention with several heads, computed in the fastest way for the device and the size.

On a CPU, PyTorch's fused kernel (2.13) is not faster with a second thread; plain products are. With
many actions they take a part of the batch at a time, so that its scores stay in the caches. Scores
are not kept, because a rollout has up to ``2 n`` steps with scores each; the backward pass computes
them again.
"""

import math
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from lifelong_co.tensors.precision import not_half
from lifelong_co_adapters.bfloat16_linear import in_bfloat16
from lifelong_co_adapters.pomo.bfloat16_attention import Operands, narrow_attention
from lifelong_co_adapters.pomo.masks import minus_infinity
from lifelong_co_adapters.pomo.scores import (
    by_head,
    by_place,
    forbidden,
    instances_at_once,
    of,
    parts,
    plain,
    score,
)

# Up to this number of actions, the scores of a whole batch are few enough to keep, and torch's
# softmax is as fast as ours.
FEW = 64
# The number of scores in a part of the batch; a part is at least one instance.
PART = 2**19
# The most scores of an instance that a CPU computes at once; above, the fused kernel limits memory.
SCORES = 2**24


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    feasible: Tensor | None = None,
    memory: Tensor | None = None,
    rounded: Operands | None = None,
) -> Tensor:
    """Return the attention output of each query, ``[B, S, H, d]``.

    Parameters
    ----------
    query
        ``[B, S, H, d]``.
    key, value
        ``[B, H, A, d]``; contiguous if many steps share them, so that no step copies them.
    feasible
        Bool ``[B, S, A]``: the actions that each query may attend to, for all heads. None: all.
    memory
        A tensor ``[*]`` that many steps share for temporary results; it grows as needed. New ones
        at every step, between others that are kept, leave holes in the heap that nothing fits.
    rounded
        Keys and values in bfloat16, where many steps share them; used only by `narrow_attention`.
    """
    _, H, A, _ = key.shape
    if key.device.type != "cpu" or query.shape[1] * H * A > SCORES:
        mask = None if feasible is None else minus_infinity(~feasible, query.dtype)[:, None]
        attended = F.scaled_dot_product_attention(query.transpose(1, 2), key, value, attn_mask=mask)
        return attended.transpose(1, 2)
    if in_bfloat16(query):
        return narrow_attention(query, key, value, feasible, rounded)
    if A <= FEW:
        return plain(query, key, value, feasible)
    if torch.is_grad_enabled():
        return Attention.apply(query, key, value, feasible, memory)  # type: ignore[no-any-return, no-untyped-call]
    return in_parts(query, key, value, feasible, memory)[0]


def in_parts(
    query: Tensor, key: Tensor, value: Tensor, feasible: Tensor | None, memory: Tensor | None = None
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Return `attention` by parts of the batch, and the divisor of its weights.

    Weights are computed as powers of two: torch's `softmax` takes longer than its single passes
    (see `lifelong_co.tensors.probabilities`). The divisor is ``2^most total``, each
    ``[B * H, S, 1]``. For ``memory`` see `attention`.
    """
    B, S, H, d = query.shape
    A = key.shape[2]
    at_once = min(B, instances_at_once(H, S, A, PART)) * H
    if memory is None or memory.dtype != query.dtype or torch.is_autocast_enabled("cpu"):
        memory = query.new_empty(0)
    turned, attended, space, forbid = split(
        memory, (B * H, S, d), (B * H, S, d), (at_once, S, A), (B, S, A)
    )
    turned.view(B, H, S, d).copy_(query.transpose(1, 2))
    key, value = key.flatten(0, 1), value.flatten(0, 1)
    if feasible is not None:
        minus_infinity(~feasible, query.dtype, out=forbid)
    most, total = (not_half(query.new_empty((B * H, S, 1))) for _ in range(2))
    for instances, heads in parts(turned, key, B, PART):
        mine = turned[heads]
        out = None if torch.is_autocast_enabled("cpu") else space[: len(mine)]
        mask = None if feasible is None else forbid[instances]
        scores = score(mine, key[heads], mask, base=2, out=out)
        torch.amax(scores, dim=2, keepdim=True, out=most[heads])
        weights = scores.sub_(most[heads]).exp2_()
        torch.sum(weights, dim=2, keepdim=True, out=total[heads])
        torch.bmm(weights.to(value.dtype), value[heads], out=attended[heads])
    attended = by_place(attended.div_(total), B)
    return attended.clone(memory_format=torch.contiguous_format), (most, total)


class Attention(torch.autograd.Function):
    """`in_parts` with a gradient; it keeps only its inputs and the logarithm of the divisor."""

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        feasible: Tensor | None,
        memory: Tensor | None,
    ) -> Tensor:
        """Return the attention output."""
        attended, (most, total) = in_parts(query, key, value, feasible, memory)
        ctx.save_for_backward(query, key, value, feasible, most.add_(total.log2_()))
        return attended

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of queries, keys and values, which are differentiable again."""
        *given, feasible, divisor = ctx.saved_tensors  # query, key and value first
        wanted = ctx.needs_input_grad[:3]
        if torch.is_grad_enabled():  # for a derivative of the gradient, torch does it
            learned = [each for each, wants in zip(given, wanted, strict=True) if wants]
            attended = plain(given[0], given[1], given[2], feasible)
            found = iter(torch.autograd.grad(attended, learned, grad, create_graph=True))
            return *(next(found) if wants else None for wants in wanted), None, None
        B = len(grad)
        query, key, value = by_head(given[0]), given[1].flatten(0, 1), given[2].flatten(0, 1)
        grad, forbid = by_head(grad), forbidden(feasible, query.dtype)
        grads = [
            torch.empty_like(each) if wants else None
            for each, wants in zip((query, key, value), wanted, strict=True)
        ]
        for instances, heads in parts(query, key, B, PART):
            own = query[heads], key[heads], value[heads]
            scores = score(*own[:2], of(forbid, instances), base=2)
            weights = scores.sub_(divisor[heads]).exp2_().to(value.dtype)
            write_gradients(weights, *own, grad[heads], [of(each, heads) for each in grads])
        to_query, *others = grads
        return (
            None if to_query is None else by_place(to_query, B),
            *(None if each is None else each.view(B, -1, *each.shape[1:]) for each in others),
            None,
            None,
        )


def write_gradients(
    weights: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    grad: Tensor,
    places: list[Tensor | None],
) -> None:
    """Write the gradients of queries, keys and values into ``places``; None: not wanted."""
    nothing, scale = query.new_zeros((1, 1, 1)), 1 / math.sqrt(query.shape[2])
    to_query, to_key, to_value = places
    if to_value is not None:
        torch.bmm(weights.transpose(1, 2), grad, out=to_value)
    weighted = torch.bmm(grad, value.transpose(1, 2))
    scores = torch._softmax_backward_data(weighted, weights, 2, weights.dtype)
    if to_query is not None:
        torch.baddbmm(nothing, scores, key, beta=0, alpha=scale, out=to_query)
    if to_key is not None:
        turned = scores.transpose(1, 2)
        torch.baddbmm(nothing, turned, query, beta=0, alpha=scale, out=to_key)


def split(memory: Tensor, *shapes: tuple[int, ...]) -> list[Tensor]:
    """Return tensors of these shapes, one after another in ``memory [*]``; it grows if needed."""
    sizes = [-(-math.prod(shape) // 16) * 16 for shape in shapes]  # of whole cache lines
    if memory.numel() < sum(sizes):
        memory.resize_(sum(sizes))
    found = memory[: sum(sizes)].split(sizes)
    return [each[: math.prod(shape)].view(shape) for each, shape in zip(found, shapes, strict=True)]
