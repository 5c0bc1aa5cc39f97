"""POMO's attention: plain products, products by parts and the fused kernel agree."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from lifelong_co_adapters.pomo import attention as room
from lifelong_co_adapters.pomo import bfloat16_attention, scores
from lifelong_co_adapters.pomo.attention import attention
from torch import Tensor

fused = F.scaled_dot_product_attention
masked = pytest.mark.parametrize("masked", [False, True])


@pytest.fixture(params=["plain", "in parts", "in parts of one"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Force one of the two ways to compute attention, for any size."""
    found = str(request.param)
    monkeypatch.setattr(room, "FEW", 1000 if found == "plain" else 0)
    monkeypatch.setattr(room, "PART", 1 if found == "in parts of one" else 2 * 3 * 5 * 7)
    return found


def drawn(masked: bool, S: int = 5, A: int = 7) -> tuple[list[Tensor], Tensor | None]:
    """Return queries, keys and values in float64 for three instances, and the feasible actions."""
    torch.manual_seed(0)
    feasible = torch.rand(3, S, A) < 0.5
    feasible[..., 0] = True
    query = torch.randn(3, S, 3, 4, dtype=torch.double)
    others = [torch.randn(3, 3, A, 4, dtype=torch.double) for _ in range(2)]
    return [query, *others], feasible if masked else None


def reference(feasible: Tensor | None) -> Callable[..., Tensor]:
    """Return attention by its definition."""

    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        scores = query.transpose(1, 2) @ key.transpose(2, 3) / 2
        if feasible is not None:
            scores = scores.masked_fill(~feasible[:, None], -torch.inf)
        return (scores.softmax(dim=3) @ value).transpose(1, 2)

    return attend


@masked
@pytest.mark.usefixtures("way")
def test_values_and_gradients_equal_those_of_the_definition(masked: bool) -> None:
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
def test_values_without_gradients_are_the_same(masked: bool) -> None:
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
    """So memory stays bounded. The limit is for one instance; the batch size does not matter."""
    used: list[bool] = []

    def watched(*given: Tensor, **more: Any) -> Tensor:
        used.append(True)
        return fused(*given, **more)

    monkeypatch.setattr(F, "scaled_dot_product_attention", watched)
    made, feasible = drawn(masked)
    for limit, kernel in ((3 * 5 * 7, False), (3 * 5 * 7 - 1, True)):
        monkeypatch.setattr(room, "SCORES", limit)
        with torch.set_grad_enabled(learning):
            found = attention(*made, feasible)
        assert bool(used) == kernel
        torch.testing.assert_close(found, reference(feasible)(*made))


@pytest.mark.parametrize("frozen", [0, 1, 2])
@pytest.mark.parametrize("again", [False, True])
@pytest.mark.usefixtures("way")
def test_frozen_inputs_get_no_gradient(frozen: int, again: bool) -> None:
    """The others get theirs, also if these are differentiated again."""
    made, feasible = drawn(masked=True)
    outcomes = []
    for call in (lambda *qkv: attention(*qkv, feasible), reference(feasible)):
        tensors = [x.clone().requires_grad_(i != frozen) for i, x in enumerate(made)]
        learned = [x for i, x in enumerate(tensors) if i != frozen]
        value = call(*tensors).square().sum()
        outcomes.append(torch.autograd.grad(value, learned, create_graph=again))
    for mine, its in zip(*outcomes, strict=True):
        torch.testing.assert_close(mine, its, rtol=1e-10, atol=1e-10)


def test_scores_of_many_actions_are_not_kept() -> None:
    """The backward pass keeps nothing as large as queries times keys, except a mask of bytes."""
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
    """A part of the batch has few enough scores, or is a single instance."""
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
    """Values and gradients are off by a few of its 8 bits; sums of scores are not rounded."""
    kinds: list[torch.dtype] = []
    score = scores.score

    def watched(*given: Any, **more: Any) -> Tensor:
        kinds.append(score(*given, **more).dtype)
        return score(*given, **more)

    for module in (scores, bfloat16_attention):
        monkeypatch.setattr(module, "score", watched)
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


def test_steps_that_share_memory_keep_their_results_and_gradients() -> None:
    """The memory of temporary results holds neither an output nor a tensor of the backward pass."""
    generator = torch.Generator().manual_seed(0)
    key, value = (torch.randn(3, 2, 80, 4, generator=generator) for _ in range(2))
    queries = [torch.randn(3, 70, 2, 4, generator=generator) for _ in range(2)]
    feasible = [torch.rand(3, 70, 80, generator=generator) < 0.5 for _ in range(2)]
    found = []
    for memory in (None, torch.empty(0)):
        learned = [each.clone().requires_grad_() for each in queries]
        outputs = [
            attention(query, key, value, mask, memory)
            for query, mask in zip(learned, feasible, strict=True)
        ]
        torch.stack(outputs).square().sum().backward()
        found.append([*outputs, *(each.grad for each in learned)])
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))
