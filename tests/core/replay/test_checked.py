"""Weightings and divergences that break their contract are refused by name."""

import functools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import lifelong_co as lco
from lifelong_co.errors import ComponentError
from lifelong_co.replay.checked import (
    CheckedDivergence,
    CheckedWeighting,
    checked_divergence,
    checked_weighting,
    label,
)

SHAPE = (2, 3, 5)


def behavior(seed: int = 0, *, learned: bool = False) -> Tensor:
    """Return log-probabilities ``[B, S, A]``."""
    logits = torch.randn(SHAPE, generator=torch.Generator().manual_seed(seed))
    return logits.requires_grad_(learned).log_softmax(dim=-1)


@pytest.mark.parametrize(
    ("weighting", "expected"),
    [
        (lambda probs: probs, r"expected weights of shape \[2, 3\] .* got \[2, 3, 5\]"),
        (lambda probs: probs[..., :1], r"got \[2, 3, 1\]"),
        (lambda probs: 1.0, "got 1.0"),  # noqa: ARG005
        (lambda probs: -probs.amax(dim=-1), "expected finite weights of at least 0, got -"),
        (lambda probs: probs.sum(dim=-1) * math.nan, "got nan to nan"),
        (lambda probs: probs.sum(dim=-1) / 0, "got inf to inf"),
    ],
)
def test_wrong_weights_are_refused(weighting: Callable[..., Any], expected: str) -> None:
    """Before the first experience; the message names the weighting."""
    with pytest.raises(ComponentError, match="weighting '<lambda>': .*" + expected):
        lco.consolidation_loss(weighting, "rkl", "probabilities")
    with pytest.raises(ComponentError, match="'w': .*" + expected):
        CheckedWeighting("'w'", weighting)(behavior(1).exp())


@pytest.mark.parametrize(
    ("divergence", "expected"),
    [
        (lambda t, s: t - s, r"expected distances of shape \[2, 3\] .* got \[2, 3, 5\]"),
        (lambda t, s: (t - s).sum(), r"got \[\]"),
        (lambda t, s: None, "got None"),  # noqa: ARG005
        (lambda t, s: s.sum(dim=-1).detach(), "got one without gradients"),  # noqa: ARG005
        (lambda t, s: -lco.divergence("kl")(t, s), "expected distances of at least 0, got -"),
        (lambda t, s: s.sum(dim=-1) * math.nan, "expected finite distances, got nan"),  # noqa: ARG005
    ],
)
@pytest.mark.parametrize("kind", ["official", "probabilities"])
def test_wrong_divergence_is_refused(
    divergence: Callable[..., Any], expected: str, kind: str
) -> None:
    """Before the first experience; the message names the divergence."""
    with pytest.raises(ComponentError, match="divergence '<lambda>': .*" + expected):
        lco.consolidation_loss("variance", divergence, kind)
    with pytest.raises(ComponentError, match="'d': .*" + expected):
        CheckedDivergence("'d'", divergence)(behavior(1), behavior(2, learned=True))


def test_trial_before_the_first_experience_leaves_random_numbers_alone() -> None:
    """A weighting may use them."""
    before = torch.random.get_rng_state()
    lco.consolidation_loss(lambda probs: torch.rand(probs.shape[:-1]), "rkl")
    assert torch.equal(torch.random.get_rng_state(), before)


def test_components_are_not_blamed_for_nan_of_a_network() -> None:
    """The loss is NaN, and the loop refuses it."""
    broken = behavior(1) * math.nan
    loss = lco.consolidation_loss("variance", "rkl", "probabilities")
    assert loss([broken], [broken]).isnan()


def test_weights_may_miss_zero_by_rounding() -> None:
    """A state of one certain action may have a weight just below 0; no state, no weight."""
    weigh = CheckedWeighting("w", lambda probs: 1.0 - probs.amax(dim=-1))
    assert weigh(torch.tensor([[1.00001, 0.0]])).item() < 0
    assert weigh(torch.ones(0, 4)).shape == (0,)


@pytest.mark.parametrize("name", ["kl", "rkl", "mixture", "js", "squared"])
def test_distances_may_miss_zero_by_rounding(name: str) -> None:
    """Of a teacher in half precision, too: its probabilities do not sum to 1."""
    learner = (10 * behavior(1)).log_softmax(dim=-1)
    distance = checked_divergence(name)
    assert float(distance(learner, learner).abs().max()) < 1e-5
    for teacher in (learner.half().float(), learner.bfloat16().float(), learner - 0.01):
        distance(teacher, learner)
        distance(learner, teacher)
    low = torch.tensor([[0.5, 0.5]]).log()
    assert lco.divergence("kl")(low - 0.01, low).item() < -1e-4
    with pytest.raises(
        ComponentError, match=r"'d': expected distances of at least 0, got -0\.02995"
    ):
        CheckedDivergence("'d'", lambda t, s: t.exp().sum(dim=-1) - 1.02)(low - 0.01, low)  # noqa: ARG005


def test_checks_change_no_result() -> None:
    """The results are those of the functions."""
    teacher, learner = behavior(1), behavior(2)
    distance = lco.divergence("rkl")
    assert torch.equal(checked_divergence("rkl")(teacher, learner), distance(teacher, learner))
    with torch.no_grad():
        frozen = CheckedDivergence("d", lambda t, s: (t - s).abs().sum(dim=-1).detach())
        assert frozen(teacher, learner).shape == SHAPE[:-1]


def test_labels_name_components() -> None:
    """A name is quoted; an object without a name has that of its type."""
    assert label("divergence", "rkl") == "divergence 'rkl'"
    assert label("weighting", torch.nn.Identity()) == "weighting 'Identity'"


def test_function_with_a_further_argument_is_refused_by_name() -> None:
    """Nothing can give it a value; one with a default, or fixed before, is taken."""

    def powered(probs: Tensor, power: float) -> Tensor:
        return probs.pow(power).sum(dim=-1)

    def scaled(teacher: Tensor, learner: Tensor, *, scale: float) -> Tensor:
        return scale * (teacher.exp() - learner.exp()).abs().sum(dim=-1)

    with pytest.raises(ComponentError, match=r"weighting 'powered': expected .*\(probs\).*power"):
        checked_weighting(powered)
    with pytest.raises(ComponentError, match=r"divergence 'scaled': .*learner\) without .*scale"):
        checked_divergence(scaled)
    checked_weighting(functools.partial(powered, power=2.0))
    checked_weighting(lambda probs, guard: probs.amax(dim=-1) + guard, guard=0.5)
    checked_divergence(functools.partial(scaled, scale=2.0))


@pytest.mark.parametrize("behavior_of_loss", ["official", "probabilities"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.int64])
def test_weights_of_any_type_are_added_in_single_precision(dtype, behavior_of_loss):
    """In half precision the sum of many weights is infinite, and all of them would be 0."""
    ways = [torch.randn(64, 40, 101).log_softmax(dim=-1) for _ in range(64)]

    def loss_of(weighting):
        return lco.consolidation_loss(weighting, "rkl", behavior_of_loss)(ways[:32], ways[32:])

    def ones(probs):
        return torch.ones(probs.shape[:-1])

    assert float(loss_of(lambda probs: ones(probs).to(dtype))) == pytest.approx(
        float(loss_of(ones)), rel=1e-3
    )
    assert loss_of(lambda probs: torch.zeros(probs.shape[:-1], dtype=dtype)).isfinite()
