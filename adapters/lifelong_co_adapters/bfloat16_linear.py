"""Linear maps on a CPU with products in bfloat16, under torch's autocast.

Autocast alone loses to single precision here: it rounds the weights in each pass, and in the
backward pass torch's products get layouts that are slow. This module rounds each input once, keeps
the rounded one for the backward pass, and calls oneDNN. The results are in bfloat16, so the next
product takes them as they are; gradients of weights are summed in single precision.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

# None if PyTorch was built without oneDNN.
ONEDNN: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None)


def in_bfloat16(tensor: Tensor) -> bool:
    """Return whether products of a tensor are in bfloat16 by this module and by oneDNN.

    They are if the tensor is on a CPU for which oneDNN supports bfloat16, is not in double
    precision, and autocast to bfloat16 is on.
    """
    return (
        tensor.device.type == "cpu"
        and torch.is_autocast_enabled("cpu")
        and torch.get_autocast_dtype("cpu") == torch.bfloat16
        and tensor.dtype in (torch.float32, torch.bfloat16)
        and supported()
    )


def supported() -> bool:
    """Return whether oneDNN is enabled and supports bfloat16 on this processor."""
    return enabled() and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def enabled() -> bool:
    """Return whether PyTorch has oneDNN, and it is enabled."""
    there = ONEDNN is not None and torch.backends.mkldnn.is_available()
    return there and bool(torch.backends.mkldnn.enabled)


def narrow_affine(x: Tensor, weight: Tensor, bias: Tensor | None, relu: bool) -> Tensor:
    """Return ``x @ weight.T + bias`` in bfloat16, ``[M, N]``, followed by ReLU if ``relu`` is true.

    The gradient is not differentiable again.

    Parameters
    ----------
    x
        ``[M, K]``, in single precision or in bfloat16.
    weight
        ``[N, K]``.
    bias
        ``[N]``.
    relu
        Whether ReLU follows, at no cost.
    """
    return NarrowAffine.apply(x, weight, bias, relu)  # type: ignore[no-any-return, no-untyped-call]


class NarrowAffine(torch.autograd.Function):
    """`narrow_affine` with its gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, relu: bool) -> Tensor:
        """Return ``[M, N]`` of ``x`` ``[M, K]`` and ``weight`` ``[N, K]``."""
        narrow, narrow_weight = rounded(x), rounded(weight)
        offset = None if bias is None else bias.bfloat16()
        found: Tensor = ONEDNN(narrow, narrow_weight, offset, "relu" if relu else "none", [], "")
        ctx.save_for_backward(narrow, narrow_weight, found if relu else None)
        ctx.types = x.dtype, weight.dtype
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients, which are not differentiable again."""
        x, weight, found = ctx.saved_tensors
        grad = rounded(grad)
        if found is not None:
            grad = torch.ops.aten.threshold_backward(grad, found, 0)
        of_x, of_weight = ctx.types
        wants_x, wants_weight, wants_bias, _ = ctx.needs_input_grad
        return (
            ONEDNN(grad, weight.T, None, "none", [], "").to(of_x) if wants_x else None,
            torch.mm(grad.T, x).to(of_weight) if wants_weight else None,
            grad.sum(dim=0).to(of_weight) if wants_bias else None,
            None,
        )


def rounded(matrix: Tensor) -> Tensor:
    """Return a matrix in bfloat16 with contiguous rows."""
    return matrix.to(torch.bfloat16).contiguous()
