"""Linear maps by oneDNN: values, gradients of gradients, layouts, and cases without oneDNN."""

from collections.abc import Callable
from unittest import mock

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import given
from hypothesis import strategies as st
from lifelong_co_adapters import onednn_linear as products
from lifelong_co_adapters.onednn_linear import ROWS, affine, linear
from torch import Tensor

Map = Callable[[Tensor, Tensor, Tensor | None], Tensor]
there = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="no oneDNN here")


def plainly(x: Tensor, weight: Tensor, bias: Tensor | None, relu: bool) -> Tensor:
    """Return the expected result of `affine`, by PyTorch."""
    found = F.linear(x, weight, bias)
    return found.relu() if relu else found


def twice(call: Map, tensors: list[Tensor], biased: bool) -> list[Tensor]:
    """Return values, gradients, and gradients of the gradients' squares."""
    own = [tensor.clone().requires_grad_() for tensor in tensors]
    x, weight, bias = own
    taken = own if biased else own[:2]
    value = call(x, weight, bias if biased else None)
    first = torch.autograd.grad(value.square().sum(), taken, create_graph=True)
    loss = torch.stack([gradient.square().sum() for gradient in first]).sum()
    return [value, *first, *torch.autograd.grad(loss, taken)]


@given(
    st.integers(min_value=1, max_value=40),
    st.integers(min_value=1, max_value=40),
    st.integers(min_value=1, max_value=40),
    st.booleans(),
    st.booleans(),
    st.integers(min_value=0, max_value=2**31),
)
def test_values_and_gradients_equal_those_of_pytorch(
    rows: int, k: int, n: int, biased: bool, relu: bool, seed: int
) -> None:
    """To single precision, against PyTorch in double; oneDNN is used for any size here."""
    generator = torch.Generator().manual_seed(seed)
    tensors = [torch.randn(shape, generator=generator) for shape in ((rows, k), (n, k), (n,))]
    # Where rounding decides a sign, gradients would differ by more than rounding.
    if relu and bool((F.linear(*(t.double() for t in tensors)).abs() < 1e-3).any()):
        relu = False
    with mock.patch.object(products, "ROWS", 1):
        found = twice(lambda x, w, b: affine(x, w, b, relu=relu), tensors, biased)
    exact = twice(
        lambda x, w, b: plainly(x, w, b, relu), [tensor.double() for tensor in tensors], biased
    )
    for mine, its in zip(found, exact, strict=True):
        scale = float(its.detach().abs().max()) + 1e-6
        torch.testing.assert_close(mine.double() / scale, its / scale, rtol=0, atol=2e-5)


@there
@pytest.mark.parametrize("relu", [False, True])
def test_any_layout_is_supported(monkeypatch: pytest.MonkeyPatch, relu: bool) -> None:
    """More dimensions, transposes and slices; oneDNN never gets a layout that is slow."""
    seen: list[Tensor] = []
    operator = products.ONEDNN

    def watch(x: Tensor, weight: Tensor, *more: object) -> Tensor:
        seen.extend((x, weight))
        return operator(x, weight, *more)  # type: ignore[no-any-return]

    monkeypatch.setattr(products, "ONEDNN", watch)
    torch.manual_seed(0)
    x, weight = torch.randn(4, 40, 16), torch.randn(16, 24)
    cases = [
        (x, weight.T),
        (x.transpose(0, 1), weight.T.contiguous()),
        (torch.randn(160, 20)[:, :16], weight.T),
        (x, torch.randn(24, 17)[:, :16]),
        (torch.randn(4, 16, 40).transpose(1, 2), torch.randn(48, 16)[::2]),
    ]
    for given_x, given_weight in cases:
        found = affine(given_x, given_weight, relu=relu)
        torch.testing.assert_close(found, plainly(given_x, given_weight, None, relu))
        assert found.shape == (*given_x.shape[:-1], 24)
    assert len(seen) == 2 * len(cases)
    assert all(tensor.is_contiguous() or tensor.T.is_contiguous() for tensor in seen)


@there
def test_pytorch_is_used_where_onednn_is_not_suited(monkeypatch: pytest.MonkeyPatch) -> None:
    """For few rows, double precision and autocast, PyTorch's linear map is used."""

    def never(*arguments: object) -> Tensor:
        raise AssertionError(arguments)

    monkeypatch.setattr(products, "multiply", never)
    layer = torch.nn.Linear(8, 4)
    x = torch.randn(2 * ROWS, 8)
    with pytest.raises(AssertionError):
        linear(x, layer)
    with torch.no_grad(), pytest.raises(AssertionError):
        linear(x, layer, relu=True)
    assert torch.equal(linear(x[: ROWS - 1], layer), layer(x[: ROWS - 1]))
    assert torch.equal(linear(x[:3], layer, relu=True), layer(x[:3]).relu())
    with torch.autocast("cpu", torch.bfloat16):
        assert linear(x, layer).dtype == torch.bfloat16
    assert linear(x.double(), layer.double()).dtype == torch.float64
    assert affine(torch.empty(0, 8), torch.ones(4, 8)).shape == (0, 4)


@there
def test_result_can_be_changed_in_place() -> None:
    """Residuals do this; the gradient is the one of the sum."""
    x, weight = torch.randn(ROWS, 8, requires_grad=True), torch.randn(8, 8)
    affine(x, weight).add_(x).sum().backward()
    torch.testing.assert_close(x.grad, (weight.sum(dim=0) + 1).expand(ROWS, 8))
