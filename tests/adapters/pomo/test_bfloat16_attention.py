"""Attention in bfloat16: values and gradients against single precision."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lifelong_co_adapters.pomo import bfloat16_attention as room
from lifelong_co_adapters.pomo.bfloat16_attention import narrow_attention, operands
from lifelong_co_adapters.pomo.scores import plain
from torch import Tensor

sizes = st.integers(min_value=1, max_value=20)


def error(found: Tensor, expected: Tensor) -> float:
    """Return the norm of the difference, relative to the expected norm."""
    return float((found.float() - expected).norm() / (expected.norm() + 1e-3))


def outcomes(made: list[Tensor], feasible: Tensor | None, grad: Tensor) -> list[list[Tensor]]:
    """Return value and gradients of queries, keys and values: ours, then in single precision."""
    found = []
    for call in (narrow_attention, plain):
        tensors = [each.clone().requires_grad_() for each in made]
        value = call(tensors[0], tensors[1], tensors[2], feasible)
        found.append([value.detach(), *torch.autograd.grad(value, tensors, grad)])
    return found


def drawn(B: int, S: int, H: int, A: int, d: int, seed: int = 0) -> tuple[list[Tensor], Tensor]:
    """Return queries, keys and values, and the feasible actions."""
    generator = torch.Generator().manual_seed(seed)
    shapes = (B, S, H, d), (B, H, A, d), (B, H, A, d)
    feasible = torch.rand((B, S, A), generator=generator) < 0.5
    feasible[..., 0] = True
    return [torch.randn(shape, generator=generator) for shape in shapes], feasible


@pytest.mark.parametrize("kept", [0, 1000])
@given(st.integers(1, 3), sizes, st.integers(1, 3), sizes, st.integers(1, 2), st.booleans(), sizes)
def test_values_and_gradients_are_those_of_single_precision(
    kept: int, B: int, S: int, H: int, A: int, fours: int, masked: bool, seed: int
) -> None:
    """Up to rounding of operands and results to 8 bits; with weights kept or computed again."""
    d = 4 * fours
    made, feasible = drawn(B, S, H, A, d, seed)
    grad = torch.randn((B, S, H, d), generator=torch.Generator().manual_seed(seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "KEPT", kept)
        patch.setattr(room, "PART", 2 * H * S * A)  # two instances
        mine, its = outcomes(made, feasible if masked else None, grad)
    for found, expected in zip(mine, its, strict=True):
        assert found.dtype == torch.float32
        # Gradients of scores are differences, which a rounding of operands changes most.
        assert error(found, expected) < 0.05 or float((found - expected).abs().max()) < 0.05


def test_given_operands_are_used() -> None:
    """The result is the same; many steps can share them."""
    made, feasible = drawn(2, 5, 2, 6, 4)
    rounded = operands(made[1], made[2])
    found = narrow_attention(made[0], made[1], made[2], feasible, rounded)
    assert torch.equal(found, narrow_attention(made[0], made[1], made[2], feasible))
    assert rounded.values_and_ones.shape == (4, 6, 6)


def test_scores_of_thousands_are_fine() -> None:
    """Only differences of scores count."""
    made, feasible = drawn(2, 5, 2, 6, 4)
    found = narrow_attention(made[0] * 1000, made[1], made[2], feasible)
    assert found.isfinite().all()


@pytest.mark.parametrize("kept", [0, 1000])
def test_weights_of_many_actions_are_not_kept(monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    """The only large tensors of the backward pass are the mask and, with few actions, weights."""
    monkeypatch.setattr(room, "KEPT", kept)
    made, feasible = drawn(2, 30, 2, 40, 4)
    seen: list[Tensor] = []

    def pack(tensor: Tensor) -> Tensor:
        seen.append(tensor)
        return tensor

    tensors = [each.requires_grad_() for each in made]
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        narrow_attention(tensors[0], tensors[1], tensors[2], feasible)
    large = [tensor.dtype for tensor in seen if tensor.numel() >= 2 * 30 * 40]
    assert large == [torch.bool, *([torch.bfloat16] if kept else [])]
