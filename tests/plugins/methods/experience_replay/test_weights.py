"""What experiences weigh is computed once and remembered as long as they are."""

import gc
import random

import pytest
import torch
from lifelong_co_plugins.methods.experience_replay.bundles import Bundle
from lifelong_co_plugins.methods.experience_replay.weights import Weights, drawn_by_weight
from torch import Tensor

import lifelong_co as lco
from lifelong_co.replay.consolidation import weights_of
from lifelong_co.replay.experience import PackedExperience, record


def experience(rows: int = 6, actions: int = 5) -> PackedExperience:
    """Return some behavior in the first state of some instances."""
    tsp = lco.problem("tsp")
    instances = tsp.instances(nodes=torch.rand(rows, actions, 2))
    log_probs = (2 * torch.randn(rows, 3, actions)).log_softmax(dim=2)
    return record(0, instances, tsp.reset(instances, 3), log_probs)


def test_weight_is_computed_once_and_dropped_with_its_experience(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It holds for an experience that a draw has twice, too."""
    loss = lco.consolidation_loss("variance", "rkl", "probabilities")
    calls: list[int] = []
    raw = type(loss).raw_weights

    def counted(self: object, teacher: Tensor) -> Tensor:
        calls.append(len(teacher))
        return raw(self, teacher)  # type: ignore[arg-type]

    monkeypatch.setattr(type(loss), "raw_weights", counted)
    torch.manual_seed(0)
    weights = Weights(loss, 1.0, random.Random(0))
    held = [experience() for _ in range(4)]
    first = weights.raw(held[:3])
    again = weights.raw([*held, held[3]])[:4]
    assert len(calls) == 4
    expected = [raw(loss, each.log_probs()) for each in held]
    torch.testing.assert_close(again, expected, rtol=0, atol=0)
    assert all(one is other for one, other in zip(first, again, strict=False))
    del held[1:]
    gc.collect()
    assert list(weights.known) == held


@pytest.mark.parametrize("behavior", ["official", "probabilities"])
def test_all_rows_have_the_weights_of_the_loss(behavior: str) -> None:
    """A draw of all rows, alone and in bundles, has the weights of the loss."""
    torch.manual_seed(0)
    loss = lco.consolidation_loss("variance", "rkl", behavior)
    steps = [experience() for _ in range(4)]
    bundles = [Bundle(0, (steps[0], steps[1])), *(Bundle(0, (step,)) for step in steps[2:])]
    expected = weights_of(loss, [step.log_probs() for step in steps])
    own = [(expected[0], expected[1]), (expected[2],), (expected[3],)]
    found = drawn_by_weight(bundles, own, 1.0, 0.5)
    assert [step for each in found for step in each.steps] == steps
    weights = [weight for each in found for weight in each.weights]
    rows = [each.rows for each in found for _ in each.steps]
    total = sum(float(each.sum()) for each in expected)
    assert sum(float(each.sum()) for each in weights) == pytest.approx(total, rel=1e-5)
    factors = []  # by which a row that was drawn weighs more than it did, in all its states
    for chosen, weight, whole in zip(rows, weights, expected, strict=True):
        found = weight / whole[chosen]
        torch.testing.assert_close(found, found[:, :1].expand(-1, 3))
        factors.append(found[:, 0])
    torch.testing.assert_close(factors[0], factors[1])  # a bundle's rows are drawn together
