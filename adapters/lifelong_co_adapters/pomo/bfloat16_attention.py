"""Attention on a CPU with products in bfloat16; scores, softmax and sums are in single precision.

Products take about half the time in bfloat16, other passes over the scores take longer. So only
operands and results of products are rounded. With few actions the weights are kept for the backward
pass, in half the memory of single precision.

With weights ``w``, values ``v``, the output ``o`` and its gradient ``g``, the gradient of score
``j`` is ``w_j (g . v_j - g . o)``. The subtraction is a part of the product, so it comes before the
rounding: two more columns of ``g`` have ``-g . o`` and what rounding takes from it, and those of
``v_j`` have ones.
"""

import math
from typing import Any

import attrs
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from lifelong_co_adapters.pomo.scores import by_head, by_place, forbidden, of, parts, score

# Up to this number of actions the weights are kept for the backward pass; with more they would take
# more memory than all the rest, and are computed again.
KEPT = 128
# The number of scores in a part of the batch.
PART = 3 * 2**18


@attrs.frozen(eq=False)
class Operands:
    """Keys and values in bfloat16; many steps share them."""

    keys: Tensor  # [B * H, A, d]
    values: Tensor  # [B * H, A, d]
    values_and_ones: Tensor  # [B * H, A, d + 2]


def operands(key: Tensor, value: Tensor) -> Operands:
    """Return keys and values ``[B, H, A, d]`` in bfloat16, without gradients."""
    keys, values = (each.detach().bfloat16().flatten(0, 1).contiguous() for each in (key, value))
    ones = values.new_ones((*values.shape[:2], 2))
    return Operands(keys, values, torch.cat((values, ones), dim=2))


def narrow_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    feasible: Tensor | None,
    rounded: Operands | None = None,
) -> Tensor:
    """Return the attention output of each query, ``[B, S, H, d]``, in the type of the queries.

    The gradient is not differentiable again.

    Parameters
    ----------
    query
        ``[B, S, H, d]``, in single precision or in bfloat16, like keys and values.
    key, value
        ``[B, H, A, d]``.
    feasible
        Bool ``[B, S, A]``: the actions that each query may attend to, for all heads. None: all.
    rounded
        The result of `operands` for these keys and values.
    """
    narrow = rounded or operands(key, value)
    return NarrowAttention.apply(query, key, value, feasible, narrow)  # type: ignore[no-any-return, no-untyped-call]


class NarrowAttention(torch.autograd.Function):
    """`narrow_attention` with its gradient."""

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,  # noqa: ARG004
        feasible: Tensor | None,
        narrow: Operands,
    ) -> Tensor:
        """Return the attention output."""
        (B, S, H, _), A = query.shape, key.shape[2]
        learning = any(ctx.needs_input_grad)
        asked = by_head(query.bfloat16()).contiguous()
        kept = asked.new_empty((B * H, S, A)) if learning and A <= KEPT else None
        attended = torch.empty_like(asked)
        divisor = asked.new_empty((B * H, S, 1), dtype=torch.float32)
        forbid = forbidden(feasible, torch.float32)
        for instances, heads in parts(asked, narrow.keys, B, PART):
            scores = score(asked[heads], narrow.keys[heads], of(forbid, instances), base=2)
            most = scores.amax(dim=2, keepdim=True)
            powers = scores.sub_(most).exp2_()
            total = powers.sum(dim=2, keepdim=True)
            if learning and kept is None:
                torch.add(most, total.log2(), out=divisor[heads])
            powers.mul_(total.reciprocal_())
            weights = powers.bfloat16() if kept is None else kept[heads].copy_(powers)
            torch.bmm(weights, narrow.values[heads], out=attended[heads])
        found = by_place(attended, B).to(query.dtype, memory_format=torch.contiguous_format)
        if learning:
            ctx.save_for_backward(asked, feasible, found, kept, divisor if kept is None else None)
            ctx.narrow, ctx.types = narrow, (query.dtype, key.dtype)
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of queries, keys and values."""
        asked, feasible, found, kept, divisor = ctx.saved_tensors
        narrow, (B, S, H, d), A = ctx.narrow, grad.shape, ctx.narrow.keys.shape[1]
        means = (grad * found).sum(dim=3, dtype=torch.float32).neg_().transpose(1, 2)
        grads = asked.new_empty((B, H, S, d + 2))
        grads[..., :d].copy_(grad.transpose(1, 2))
        grads[..., d].copy_(means)
        grads[..., d + 1].copy_(means - grads[..., d])
        grads = grads.flatten(0, 1)
        forbid = forbidden(feasible, torch.float32) if kept is None else None
        to_query = torch.empty_like(asked)
        to_key, to_value = asked.new_empty((B * H, d, A)), asked.new_empty((B * H, d + 2, A))
        for instances, heads in parts(asked, narrow.keys, B, PART):
            own, keys = grads[heads], narrow.keys[heads]
            if kept is None:
                scores = score(asked[heads], keys, of(forbid, instances), base=2)
                weights = scores.sub_(divisor[heads]).exp2_().bfloat16()
            else:
                weights = kept[heads]
            torch.bmm(own.transpose(1, 2), weights, out=to_value[heads])
            to_scores = torch.bmm(own, narrow.values_and_ones[heads].transpose(1, 2))
            to_scores.mul_(weights)
            torch.bmm(to_scores, keys, out=to_query[heads])
            torch.bmm(asked[heads].transpose(1, 2), to_scores, out=to_key[heads])
        of_query, of_key = ctx.types
        scale = 1 / math.sqrt(d)
        return (
            by_place(to_query, B).to(of_query).mul_(scale),
            to_key.view(B, H, d, A).transpose(2, 3).to(of_key).mul_(scale),
            to_value.view(B, H, d + 2, A)[:, :, :d].transpose(2, 3).to(of_key),
            None,
            None,
        )
