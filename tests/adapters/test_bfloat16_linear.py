"""Linear maps in bfloat16: values and gradients against single precision, and when they apply."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import given
from hypothesis import strategies as st
from lifelong_co_adapters import bfloat16_linear as products
from lifelong_co_adapters.bfloat16_linear import in_bfloat16, narrow_affine
from lifelong_co_adapters.onednn_linear import ROWS, affine
from torch import Tensor

there = pytest.mark.skipif(not products.supported(), reason="no oneDNN in bfloat16 here")
STEP = 2.0**-8  # the relative distance of two numbers in bfloat16


def outcome(
    x: Tensor, weight: Tensor, bias: Tensor | None, grad: Tensor, relu: bool, narrow: bool
) -> list[Tensor]:
    """Return the value and the gradients of all inputs, for the gradient of the value."""
    tensors = [each.clone().requires_grad_() for each in (x, weight, bias) if each is not None]
    if narrow:
        value = narrow_affine(
            tensors[0], tensors[1], tensors[2] if len(tensors) > 2 else None, relu
        )
    else:
        value = F.linear(*tensors)
        value = value.relu() if relu else value
    return [value, *torch.autograd.grad(value, tensors, grad.to(value.dtype))]


@there
@given(
    st.integers(min_value=1, max_value=150),
    st.integers(min_value=1, max_value=70),
    st.integers(min_value=1, max_value=70),
    st.booleans(),
    st.booleans(),
    st.integers(min_value=0, max_value=2**31),
)
def test_values_and_gradients_are_those_of_single_precision(
    rows: int, k: int, n: int, biased: bool, relu: bool, seed: int
) -> None:
    """For operands that are exact in bfloat16, only results are rounded: by half a step.

    A sum of products has the rounding of single precision, relative to the sum of their sizes.
    """
    generator = torch.Generator().manual_seed(seed)
    x, weight, bias, grad = (
        torch.randn(shape, generator=generator).bfloat16().float()
        for shape in ((rows, k), (n, k), (n,), (rows, n))
    )
    if relu and bool((F.linear(x, weight, bias if biased else None).abs() < 1e-3).any()):
        relu = False  # rounding would decide which gradients pass
    given_bias = bias if biased else None
    mine, its = (outcome(x, weight, given_bias, grad, relu, narrow) for narrow in (True, False))
    assert mine[0].dtype == torch.bfloat16
    for found, expected in zip(mine, its, strict=True):
        size = float(expected.detach().abs().max())
        torch.testing.assert_close(found.float(), expected, rtol=STEP, atol=1e-5 * size + 1e-6)
    assert {found.dtype for found in mine[1:]} == {torch.float32}


@there
def test_bfloat16_input_gets_a_gradient_in_bfloat16() -> None:
    """So no cast is between two linear maps."""
    x, weight = torch.randn(ROWS, 8).bfloat16().requires_grad_(), torch.randn(4, 8)
    narrow_affine(x, weight, None, relu=False).sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(
        x.grad.float(), weight.bfloat16().float().sum(dim=0).expand(ROWS, 8), rtol=STEP, atol=0
    )


@there
def test_it_applies_under_autocast_to_bfloat16_only() -> None:
    """Not without autocast, in double precision, and under autocast to another type."""
    x = torch.randn(2 * ROWS, 8)
    assert not in_bfloat16(x)
    with torch.autocast("cpu", torch.bfloat16):
        assert in_bfloat16(x)
        assert in_bfloat16(x.bfloat16())
        assert not in_bfloat16(x.double())
        assert affine(x, torch.randn(4, 8)).dtype == torch.bfloat16
        with torch.autocast("cpu", enabled=False):
            assert not in_bfloat16(x)
    with torch.autocast("cpu", torch.float16):
        assert not in_bfloat16(x)


def test_torch_is_used_where_onednn_has_no_bfloat16(monkeypatch: pytest.MonkeyPatch) -> None:
    """The result is the one of torch's autocast."""
    monkeypatch.setattr(products, "ONEDNN", None)
    x, weight = torch.randn(2 * ROWS, 8), torch.randn(4, 8)
    with torch.autocast("cpu", torch.bfloat16):
        assert not in_bfloat16(x)
        assert torch.equal(affine(x, weight), F.linear(x, weight))


@there
def test_second_derivative_is_refused() -> None:
    """Torch names the reason."""
    x, weight = torch.randn(ROWS, 8, requires_grad=True), torch.randn(4, 8)
    value = narrow_affine(x, weight, None, relu=False).float().square().sum()
    (gradient,) = torch.autograd.grad(value, x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()
