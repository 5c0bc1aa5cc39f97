"""POMO's attention: plain products and the fused kernel are the same function."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from lifelong_co_adapters.pomo import attention as room
from lifelong_co_adapters.pomo.attention import attention
from torch import Tensor

fused = F.scaled_dot_product_attention
masked = pytest.mark.parametrize("masked", [False, True])


def drawn(masked: bool, S: int = 5, A: int = 7) -> tuple[list[Tensor], Tensor | None]:
    """Return queries, keys and values in float64, and what is forbidden."""
    torch.manual_seed(0)
    forbid = torch.zeros(2, S, A, dtype=torch.double)
    forbid[:, :, 1::2] = -torch.inf
    made = [torch.randn(2, 3, rows, 4, dtype=torch.double) for rows in (S, A, A)]
    return made, forbid if masked else None


@masked
def test_it_is_attention_with_its_gradients(masked: bool) -> None:
    """Values, gradients, and gradients of gradients, against PyTorch's by plain autograd."""
    made, forbid = drawn(masked)

    def plain(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        scores = query @ key.transpose(2, 3) / 2
        return (scores if forbid is None else scores + forbid[:, None]).softmax(dim=3) @ value

    outcomes = []
    for call in (lambda *qkv: attention(*qkv, forbid), plain):
        tensors = [tensor.clone().requires_grad_() for tensor in made]
        value = call(*tensors)
        once = torch.autograd.grad(value.square().sum(), tensors, retain_graph=True)
        first = torch.autograd.grad(value.square().sum(), tensors, create_graph=True)
        loss = torch.stack([gradient.square().sum() for gradient in first]).sum()
        outcomes.append([value, *once, *first, *torch.autograd.grad(loss, tensors)])
    for mine, its in zip(*outcomes, strict=True):
        torch.testing.assert_close(mine, its, rtol=1e-10, atol=1e-10)


@masked
def test_without_gradients_it_is_the_fused_kernels(masked: bool) -> None:
    """To rounding."""
    made, forbid = drawn(masked)
    with torch.no_grad():
        mine = attention(*made, forbid)
    its = fused(*made, attn_mask=None if forbid is None else forbid[:, None])
    torch.testing.assert_close(mine, its, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("learning", [False, True])
def test_many_scores_are_left_to_the_fused_kernel(
    monkeypatch: pytest.MonkeyPatch, learning: bool
) -> None:
    """So that memory stays bounded; one less, and they are not."""
    used: list[bool] = []

    def watched(*given: Tensor, **more: Any) -> Tensor:
        used.append(True)
        return fused(*given, **more)

    monkeypatch.setattr(F, "scaled_dot_product_attention", watched)
    made, forbid = drawn(masked=True)
    for scores, kernel in ((2 * 3 * 5 * 7, False), (2 * 3 * 5 * 7 - 1, True)):
        monkeypatch.setattr(room, "SCORES", scores)
        with torch.set_grad_enabled(learning):
            attention(*made, forbid)
        assert bool(used) == kernel


@pytest.mark.parametrize("frozen", [0, 1, 2])
@pytest.mark.parametrize("again", [False, True])
def test_what_is_frozen_gets_no_gradient(frozen: int, again: bool) -> None:
    """The others get theirs, also where these are differentiated again."""
    made, forbid = drawn(masked=True)
    assert forbid is not None
    heads, outcomes = forbid[:, None], []
    for call in (lambda *qkv: attention(*qkv, forbid), lambda *qkv: fused(*qkv, attn_mask=heads)):
        tensors = [x.clone().requires_grad_(i != frozen) for i, x in enumerate(made)]
        learned = [x for i, x in enumerate(tensors) if i != frozen]
        value = call(*tensors).square().sum()
        outcomes.append(torch.autograd.grad(value, learned, create_graph=again))
    for mine, its in zip(*outcomes, strict=True):
        torch.testing.assert_close(mine, its, rtol=1e-10, atol=1e-10)


def test_no_scores_are_kept_for_the_backward_pass() -> None:
    """But for what is forbidden, nothing as large as queries times keys; no head has its own."""
    made, forbid = drawn(masked=True, S=50, A=60)
    tensors = [tensor.requires_grad_() for tensor in made]
    kept: list[int] = []

    def pack(tensor: Tensor) -> Tensor:
        kept.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        attention(*tensors, forbid)
    assert max(kept) == 2 * 50 * 60  # what is forbidden, which all heads share
