"""What INViT does not keep is computed again, with the same gradients."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from goldens import PROBLEMS
from lifelong_co_adapters.invit import network
from lifelong_co_adapters.invit.checkpointing import Checkpointing
from tiny_invit import drawn, tiny
from torch import Tensor

from lifelong_co.tensors import records
from lifelong_co.tensors.precision import learning_in

both = pytest.mark.parametrize("name", PROBLEMS)


def sampled_loss(solver: Any, instances: Any) -> Tensor:
    """Return the log-likelihood of sampled solutions times numbers that differ."""
    generator = torch.Generator().manual_seed(0)
    found = solver.rollout(instances, "sample", generator=generator)
    result: Tensor = (found.log_likelihood * found.cost).mean()
    return result


def with_limit(limit: int, monkeypatch: pytest.MonkeyPatch, call: Callable[[], Any]) -> Any:
    """Return ``call()`` with another limit of tokens in a rollout."""
    with monkeypatch.context() as patch:
        patch.setattr(network, "Checkpointing", lambda: Checkpointing(limit))
        return call()


@both
@pytest.mark.parametrize("limit", [0, 300])
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_gradients_are_those_of_a_kept_rollout(
    name: str, precision: str, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loss and gradients have the same bits, in the precision of the forward pass."""
    solver = tiny(name)
    solver.module.float()
    instances = records.transform(drawn(name, 4, 12), lambda tensor: tensor.float())
    parameters = list(solver.module.parameters())

    def learned() -> tuple[Tensor, ...]:
        with learning_in(precision, "cpu"):
            loss = sampled_loss(solver, instances)
        grads = torch.autograd.grad(loss, parameters, allow_unused=True)
        return loss, *(grad for grad in grads if grad is not None)

    kept = with_limit(10**9, monkeypatch, learned)
    again = with_limit(limit, monkeypatch, learned)
    assert len(kept) > 10
    assert all(torch.equal(a, b) for a, b in zip(kept, again, strict=True))


@both
def test_less_is_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rollout of which only inputs are kept saves a tenth as many tensors."""
    solver, instances = tiny(name), drawn(name, 4, 12)

    def held() -> int:
        saved: list[int] = []

        def count(tensor: Tensor) -> Tensor:
            saved.append(tensor.numel())
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
            sampled_loss(solver, instances)
        return len(saved)

    assert with_limit(0, monkeypatch, held) < with_limit(10**9, monkeypatch, held) / 10
