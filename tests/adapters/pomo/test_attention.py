"""POMO's attention: plain products, those by parts and the fused kernel are the same function."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from lifelong_co_adapters.pomo import attention as room
from lifelong_co_adapters.pomo.attention import attention
from torch import Tensor

fused = F.scaled_dot_product_attention
masked = pytest.mark.parametrize("masked", [False, True])


@pytest.fixture(params=["plain", "in parts", "in parts of one"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let attention go one way or the other, whatever the size."""
    found = str(request.param)
    monkeypatch.setattr(room, "FEW", 1000 if found == "plain" else 0)
    monkeypatch.setattr(room, "PART", 1 if found == "in parts of one" else 2 * 3 * 5 * 7)
    return found


def drawn(masked: bool, S: int = 5, A: int = 7) -> tuple[list[Tensor], Tensor | None]:
    """Return queries, keys and values in float64 for three instances, and what is feasible."""
    torch.manual_seed(0)
    feasible = torch.rand(3, S, A) < 0.5
    feasible[..., 0] = True
    query = torch.randn(3, S, 3, 4, dtype=torch.double)
    others = [torch.randn(3, 3, A, 4, dtype=torch.double) for _ in range(2)]
    return [query, *others], feasible if masked else None


def reference(feasible: Tensor | None) -> Callable[..., Tensor]:
    """Return attention as its definition has it."""

    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        scores = query.transpose(1, 2) @ key.transpose(2, 3) / 2
        if feasible is not None:
            scores = scores.masked_fill(~feasible[:, None], -torch.inf)
        return (scores.softmax(dim=3) @ value).transpose(1, 2)

    return attend


@masked
@pytest.mark.usefixtures("way")
def test_it_is_attention_with_its_gradients(masked: bool) -> None:
    """Values, gradients, and gradients of gradients, against PyTorch's by plain autograd."""
    made, feasible = drawn(masked)
    outcomes = []
    for call in (lambda *qkv: attention(*qkv, feasible), reference(feasible)):
        tensors = [tensor.clone().requires_grad_() for tensor in made]
        value = call(*tensors)
        once = torch.autograd.grad(value.square().sum(), tensors, retain_graph=True)
        first = torch.autograd.grad(value.square().sum(), tensors, create_graph=True)
        loss = torch.stack([gradient.square().sum() for gradient in first]).sum()
        outcomes.append([value, *once, *first, *torch.autograd.grad(loss, tensors)])
    for mine, its in zip(*outcomes, strict=True):
        torch.testing.assert_close(mine, its, rtol=1e-10, atol=1e-10)


@masked
@pytest.mark.usefixtures("way")
def test_without_gradients_it_is_the_same(masked: bool) -> None:
    """To rounding, also with scores of thousands, of which only differences count."""
    made, feasible = drawn(masked)
    for size in (1, 1000):
        tensors = [made[0] * size, *made[1:]]
        with torch.no_grad():
            mine = attention(*tensors, feasible)
        its = reference(feasible)(*tensors)
        torch.testing.assert_close(mine, its, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("learning", [False, True])
@masked
def test_many_scores_are_left_to_the_fused_kernel(
    monkeypatch: pytest.MonkeyPatch, learning: bool, masked: bool
) -> None:
    """So that memory stays bounded; one less, and they are not. Of an instance, however many."""
    used: list[bool] = []

    def watched(*given: Tensor, **more: Any) -> Tensor:
        used.append(True)
        return fused(*given, **more)

    monkeypatch.setattr(F, "scaled_dot_product_attention", watched)
    made, feasible = drawn(masked)
    for scores, kernel in ((3 * 5 * 7, False), (3 * 5 * 7 - 1, True)):
        monkeypatch.setattr(room, "SCORES", scores)
        with torch.set_grad_enabled(learning):
            found = attention(*made, feasible)
        assert bool(used) == kernel
        torch.testing.assert_close(found, reference(feasible)(*made))


@pytest.mark.parametrize("frozen", [0, 1, 2])
@pytest.mark.parametrize("again", [False, True])
@pytest.mark.usefixtures("way")
def test_what_is_frozen_gets_no_gradient(frozen: int, again: bool) -> None:
    """The others get theirs, also where these are differentiated again."""
    made, feasible = drawn(masked=True)
    outcomes = []
    for call in (lambda *qkv: attention(*qkv, feasible), reference(feasible)):
        tensors = [x.clone().requires_grad_(i != frozen) for i, x in enumerate(made)]
        learned = [x for i, x in enumerate(tensors) if i != frozen]
        value = call(*tensors).square().sum()
        outcomes.append(torch.autograd.grad(value, learned, create_graph=again))
    for mine, its in zip(*outcomes, strict=True):
        torch.testing.assert_close(mine, its, rtol=1e-10, atol=1e-10)


def test_no_scores_of_many_actions_are_kept_for_the_backward_pass() -> None:
    """Nothing as large as queries times keys but the mask, a byte each for all heads."""
    S, A = 50, room.FEW + 1
    made, feasible = drawn(masked=True, S=S, A=A)
    tensors = [tensor.requires_grad_() for tensor in made]
    kept: list[Tensor] = []

    def pack(tensor: Tensor) -> Tensor:
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        attention(*tensors, feasible)
    large = [tensor.dtype for tensor in kept if tensor.numel() >= 3 * S * A]
    assert large == [torch.bool]


def test_scores_of_a_part_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the batch so much at once as has few enough scores, but an instance at least."""
    seen: list[int] = []
    score = room.score

    def watched(*given: Any, **more: Any) -> Tensor:
        found = score(*given, **more)
        seen.append(found.numel())
        return found

    monkeypatch.setattr(room, "score", watched)
    monkeypatch.setattr(room, "FEW", 0)
    made, _ = drawn(masked=False)
    one = 3 * 5 * 7
    for part, expected in ((2 * one, [2 * one, one]), (one - 1, [one] * 3), (3 * one, [3 * one])):
        seen.clear()
        monkeypatch.setattr(room, "PART", part)
        attention(*made)
        assert seen == expected


@pytest.mark.usefixtures("way")
def test_in_bfloat16_only_products_are_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values and gradients are off by a few of its 8 bits at most; sums of scores are not in it."""
    kinds: list[torch.dtype] = []
    score = room.score

    def watched(*given: Any, **more: Any) -> Tensor:
        kinds.append(score(*given, **more).dtype)
        return score(*given, **more)

    monkeypatch.setattr(room, "score", watched)
    made, feasible = drawn(masked=True)
    outcomes = []
    for dtype in (torch.bfloat16, torch.float32):
        tensors = [tensor.to(torch.bfloat16).to(dtype).requires_grad_() for tensor in made]
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype == torch.bfloat16):
            value = attention(*tensors, feasible)
        value.float().sum().backward()
        outcomes.append([value, *(tensor.grad for tensor in tensors)])
    for mine, its in zip(*outcomes, strict=True):
        assert mine.dtype == torch.bfloat16
        torch.testing.assert_close(mine.float(), its, rtol=2**-5, atol=2**-5)
    assert set(kinds) == {torch.float32}
