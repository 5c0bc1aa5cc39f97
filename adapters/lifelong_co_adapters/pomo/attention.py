"""Attention in several heads, in the way that is fastest where it runs.

PyTorch's fused kernel for the CPU (2.13) does not get faster by a second thread; plain products do.
As it does, they are not kept for the backward pass but computed again, since each of the up to
``2 n`` steps of a rollout would keep all its scores.
"""

import math
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

# Up to how many scores a CPU computes at once; beyond, the fused kernel bounds memory.
SCORES = 2**24


def attention(query: Tensor, key: Tensor, value: Tensor, forbid: Tensor | None = None) -> Tensor:
    """Return what each query attends to, ``[B, H, S, d]``.

    Parameters
    ----------
    query
        ``[B, H, S, d]``.
    key, value
        ``[B, H, A, d]``; contiguous where many steps share them, so that none copies them.
    forbid
        ``[B, S, A]``, added to the scores of every head: 0 or -inf. It has no gradient.
    """
    B, H, A, d = key.shape
    if key.device.type != "cpu" or query.shape[2] * B * H * A > SCORES:
        mask = None if forbid is None else forbid[:, None]
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    S = query.shape[2]
    query, key, value = (each.reshape(B * H, each.shape[2], d) for each in (query, key, value))
    if torch.is_grad_enabled():
        attended = Attention.apply(query, key, value, forbid)  # type: ignore[no-untyped-call]
    else:
        attended = torch.bmm(weigh(query, key, forbid), value)
    return attended.view(B, H, S, d)  # type: ignore[no-any-return]


def weigh(query: Tensor, key: Tensor, forbid: Tensor | None) -> Tensor:
    """Return how much queries ``[B * H, S, d]`` attend to each key, ``[B * H, S, A]``."""
    nothing, scale = query.new_zeros((1, 1, 1)), 1 / math.sqrt(query.shape[2])
    scores = torch.baddbmm(nothing, query, key.transpose(1, 2), beta=0, alpha=scale)
    if forbid is not None:
        heads = scores.view(len(forbid), -1, *forbid.shape[1:])
        heads.add_(forbid[:, None])
    return scores.softmax(dim=2)


class Attention(torch.autograd.Function):
    """Attention that remembers no more than it was given."""

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, forbid: Tensor | None
    ) -> Tensor:
        """Return what the queries attend to."""
        ctx.save_for_backward(query, key, value, forbid)
        return torch.bmm(weigh(query, key, forbid), value)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of queries, keys and values, themselves differentiable."""
        query, key, value, forbid = ctx.saved_tensors
        weights = weigh(query, key, forbid)
        if torch.is_grad_enabled():  # the gradient will be differentiated: torch knows how
            given = [each for each in (query, key, value) if each.requires_grad]
            attended = torch.bmm(weights, value)
            found = iter(torch.autograd.grad(attended, given, grad, create_graph=True))
            wanted = [next(found) if each.requires_grad else None for each in (query, key, value)]
            return *wanted, None
        scale = 1 / math.sqrt(query.shape[2])
        nothing = query.new_zeros((1, 1, 1))
        weighted = torch.bmm(grad, value.transpose(1, 2))
        scores = torch._softmax_backward_data(weighted, weights, 2, weights.dtype)
        wants_query, wants_key, wants_value, _ = ctx.needs_input_grad
        turned = scores.transpose(1, 2)
        return (
            torch.baddbmm(nothing, scores, key, beta=0, alpha=scale) if wants_query else None,
            torch.baddbmm(nothing, turned, query, beta=0, alpha=scale) if wants_key else None,
            torch.bmm(weights.transpose(1, 2), grad) if wants_value else None,
            None,
        )
