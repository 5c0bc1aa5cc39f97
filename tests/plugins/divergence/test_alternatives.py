"""The alternatives to KL: the mixture, Jensen-Shannon and the squared distance."""

import functools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import behavior_pairs
from torch import Tensor

import lifelong_co as lco

NAMES = ("kl", "rkl")

both = pytest.mark.parametrize("name", NAMES)


@pytest.mark.parametrize("reverse", [-0.1, 3.0, math.nan])
def test_share_outside_its_range_is_refused(reverse: float) -> None:
    """The mixture would no longer be at least 0."""
    same = torch.zeros(1, 2).log_softmax(dim=-1)
    with pytest.raises(
        lco.ConfigError, match=f"'mixture': reverse: expected 0 to 1, got {reverse}"
    ):
        lco.divergence("mixture")(same, same, reverse=reverse)


@given(drawn=behavior_pairs(), reverse=st.floats(0, 1))
def test_mixture_is_the_weighted_mean_of_rkl_and_kl(
    drawn: tuple[Tensor, Tensor], reverse: float
) -> None:
    """The weight 1 gives reverse KL, 0 forward KL; the default is 1/2."""
    teacher, learner = (logits.log_softmax(dim=-1) for logits in drawn)
    mixture = lco.divergence("mixture")
    kl, rkl = (lco.divergence(name)(teacher, learner) for name in NAMES)
    ends = (functools.partial(mixture, reverse=share)(teacher, learner) for share in (0, 1))
    assert all(torch.equal(got, want) for got, want in zip(ends, (kl, rkl), strict=True))
    want = reverse * rkl + (1 - reverse) * kl
    got = functools.partial(mixture, reverse=reverse)(teacher, learner)
    torch.testing.assert_close(got, want, rtol=1e-12, atol=0)
    torch.testing.assert_close(mixture(teacher, learner), (kl + rkl) / 2, rtol=1e-12, atol=1e-15)


@given(drawn=behavior_pairs())
def test_jensen_shannon_is_symmetric_and_bounded(drawn: tuple[Tensor, Tensor]) -> None:
    """It is at most log 2, which only behaviors without a common action reach."""
    teacher, learner = (logits.log_softmax(dim=-1) for logits in drawn)
    js = lco.divergence("js")
    torch.testing.assert_close(js(teacher, learner), js(learner, teacher), rtol=1e-12, atol=1e-15)
    assert (js(teacher, learner) <= math.log(2) + 1e-14).all()
    middle = ((teacher.exp() + learner.exp()) / 2).log()
    kl = lco.divergence("kl")
    want = (kl(teacher, middle) + kl(learner, middle)) / 2
    torch.testing.assert_close(js(teacher, learner), want, rtol=1e-9, atol=1e-14)
    apart = torch.tensor([[0.0, -800.0], [-800.0, 0.0]], dtype=torch.float64)
    assert float(js(*apart)) == pytest.approx(math.log(2), rel=1e-12)


@both
@given(drawn=behavior_pairs())
def test_official_loss_is_nearly_a_squared_distance(
    name: str, drawn: tuple[Tensor, Tensor]
) -> None:
    """It is ``sum (Q - P)^2 / 2 A``, within the bounds of a softmax of probabilities.

    By Taylor's theorem, both KLs of two softmaxes are half the variance of the difference of their
    logits (here ``Q - P``) under a softmax of some logits between them. Probabilities as logits
    give weights from ``1 / (A - 1 + e)`` to ``exp(p_max - 1 / A) / A``.
    """
    teacher, learner = (logits.log_softmax(dim=-1) for logits in drawn)
    A = teacher.shape[-1]
    certainty = torch.maximum(teacher, learner).exp().amax(dim=-1)
    halves = lco.divergence("squared")(teacher, learner) / 2
    flat = (x.exp().log_softmax(dim=-1) for x in (teacher, learner))
    official = lco.divergence(name)(*flat)
    assert (official >= halves / (A - 1 + math.e) - 1e-14).all()
    assert (official <= halves * torch.exp(certainty - 1 / A) / A + 1e-14).all()


@both
def test_official_loss_is_close_to_squared_for_undecided_behaviors(name: str) -> None:
    """With many actions and none likely, they agree within ten percent, and in their order."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(2, 500, 100, generator=generator, dtype=torch.float64) / 2
    teacher, learner = logits.log_softmax(dim=-1)
    flat = (x.exp().log_softmax(dim=-1) for x in (teacher, learner))
    official = lco.divergence(name)(*flat)
    squares = lco.divergence("squared")(teacher, learner) / 200
    torch.testing.assert_close(official, squares, rtol=0.1, atol=0)
    assert float(torch.corrcoef(torch.stack([official, squares]))[0, 1]) > 0.99
