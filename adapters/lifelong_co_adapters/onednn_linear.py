"""Linear maps on a CPU by oneDNN: on Zen 5 twice as fast as MKL in float32, on Zen 4 slightly.

``torch.nn.functional.linear`` uses MKL, which takes older instructions on processors not from
Intel: 97 of a possible 220 GFLOP/s on a core of Zen 5, measured. PyTorch's compiler calls oneDNN
through an operator without a gradient; this module calls the same operator and adds the gradient.
"""

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor
from torch.nn import Linear

from lifelong_co_adapters.bfloat16_linear import ONEDNN, enabled, in_bfloat16, narrow_affine

# The least number of rows for oneDNN; MKL is faster on fewer.
ROWS = 96


def linear(x: Tensor, layer: Linear, *, relu: bool = False) -> Tensor:
    """Return ``layer(x)`` for ``x`` ``[..., K]``, followed by ReLU if ``relu`` is true.

    Only the layer's parameters are used: hooks and overridden methods have no effect.
    """
    return affine(x, layer.weight, layer.bias, relu=relu)


def affine(x: Tensor, weight: Tensor, bias: Tensor | None = None, *, relu: bool = False) -> Tensor:
    """Return ``x @ weight.T + bias``, ``[..., N]``; derivatives of any order are possible.

    Under autocast to bfloat16 the result is in bfloat16.

    Parameters
    ----------
    x
        ``[..., K]``.
    weight
        ``[N, K]``, in any layout: the transpose of a contiguous ``[K, N]`` is as fast.
    bias
        ``[N]``.
    relu
        Whether ReLU follows, at no cost.
    """
    rows = x.numel() // max(1, x.shape[-1])
    narrow = rows >= ROWS and in_bfloat16(x)
    if rows < ROWS or not (narrow or suits(x, weight)):
        found = F.linear(x, weight, bias)
        return F.relu(found, inplace=True) if relu else found
    flat = x.reshape(rows, x.shape[-1])
    if narrow:
        found = narrow_affine(flat, weight, bias, relu)
    elif torch.is_grad_enabled():
        found = Affine.apply(flat, weight, bias, relu)  # type: ignore[no-untyped-call]
    else:
        found = multiply(flat, weight, bias, relu)
    # No view if the shape stays: writing into a view costs a copy in the backward pass.
    return found if x.dim() == 2 else found.view(*x.shape[:-1], weight.shape[0])


def suits(x: Tensor, weight: Tensor) -> bool:
    """Return whether oneDNN supports the tensors, is enabled, and autocast is off."""
    return (
        x.dtype == weight.dtype == torch.float32
        and x.device.type == "cpu"
        and enabled()
        and not torch.is_autocast_enabled("cpu")
    )


def multiply(x: Tensor, weight: Tensor, bias: Tensor | None, relu: bool) -> Tensor:
    """Return `affine` of ``x`` ``[M, K]``, without a gradient."""
    x, weight, after = dense(x), dense(weight), "relu" if relu else "none"
    found: Tensor = ONEDNN(x, weight, bias, after, [], "")
    return found


def dense(matrix: Tensor) -> Tensor:
    """Return a matrix with contiguous rows or columns; oneDNN is very slow on any other."""
    return matrix if matrix.is_contiguous() or matrix.T.is_contiguous() else matrix.contiguous()


class Affine(torch.autograd.Function):
    """`affine` of ``x`` ``[M, K]`` by oneDNN, with its gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, relu: bool) -> Tensor:
        """Return ``[M, N]`` of ``x`` ``[M, K]`` and ``weight`` ``[N, K]``."""
        found = multiply(x, weight, bias, relu)
        ctx.save_for_backward(x, weight, found if relu else None)
        return found

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients, which are differentiable again."""
        x, weight, found = ctx.saved_tensors
        if found is not None:
            grad = torch.ops.aten.threshold_backward(grad, found, 0)
        wants_x, wants_weight, wants_bias, _ = ctx.needs_input_grad
        return (
            affine(grad, weight.T) if wants_x else None,
            gradient(grad, x) if wants_weight else None,
            grad.sum(dim=0) if wants_bias else None,
            None,
        )


def gradient(grad: Tensor, x: Tensor) -> Tensor:
    """Return ``grad.T @ x``, ``[N, K]``; the shorter side becomes the rows, which is faster."""
    if grad.shape[1] <= x.shape[1]:
        return affine(grad.T, x.T)
    return affine(x.T, grad.T).T
