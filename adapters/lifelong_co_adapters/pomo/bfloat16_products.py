"""Products of batches of matrices on a CPU, with gradients in bfloat16."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def product(bias: Tensor, left: Tensor, right: Tensor, rounded: Tensor, *, exact: bool) -> Tensor:
    """Return ``bias + left @ right``, ``[B, S, N]``, in single precision.

    The products of the gradient are in bfloat16; the gradient is not differentiable again.

    Parameters
    ----------
    bias
        ``[B, 1, N]``.
    left, right
        ``[B, S, K]`` and ``[B, K, N]``.
    rounded
        ``right`` in bfloat16, which many calls can share.
    exact
        Whether the product itself is in single precision. In bfloat16 it is faster if ``K`` is
        large.
    """
    return Product.apply(bias, left, right, rounded, exact)  # type: ignore[no-any-return, no-untyped-call]


class Product(torch.autograd.Function):
    """`product` with its gradient."""

    @staticmethod
    def forward(
        ctx: Any, bias: Tensor, left: Tensor, right: Tensor, rounded: Tensor, exact: bool
    ) -> Tensor:
        """Return the sum, ``[B, S, N]``."""
        if exact:
            ctx.save_for_backward(left, rounded)
            return torch.baddbmm(bias, left, right)
        left = left.bfloat16()
        ctx.save_for_backward(left, rounded)
        return torch.bmm(left, rounded).float().add_(bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients in single precision."""
        left, rounded = ctx.saved_tensors
        narrow = grad.bfloat16()
        return (
            grad.sum(dim=1, keepdim=True),
            torch.bmm(narrow, rounded.transpose(1, 2)).float(),
            torch.bmm(left.bfloat16().transpose(1, 2), narrow).float(),
            None,
            None,
        )
