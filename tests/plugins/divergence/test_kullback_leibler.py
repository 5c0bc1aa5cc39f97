"""Forward and reverse KL: cases by hand, torch.distributions and scipy."""

import math

import pytest
import torch
from hypothesis import given
from scipy import special
from strategies import behavior_pairs
from torch import Tensor
from torch.distributions import Categorical, kl_divergence

import lifelong_co as lco

NAMES = ("kl", "rkl")

both = pytest.mark.parametrize("name", NAMES)


def test_kl_and_rkl_by_hand() -> None:
    """(1/2, 1/2) and (1/4, 3/4), in both directions, and with an infeasible action."""
    for extra in ([], [0.0]):
        p = torch.tensor([0.5, 0.5, *extra], dtype=torch.float64).log()
        q = torch.tensor([0.25, 0.75, *extra], dtype=torch.float64).log()
        forward = 0.5 * math.log(2) + 0.5 * math.log(2 / 3)
        reverse = 0.25 * math.log(1 / 2) + 0.75 * math.log(3 / 2)
        assert float(lco.divergence("kl")(p, q)) == pytest.approx(forward, rel=1e-12)
        assert float(lco.divergence("rkl")(p, q)) == pytest.approx(reverse, rel=1e-12)


@given(drawn=behavior_pairs())
def test_kl_and_rkl_agree_with_torch_and_scipy(drawn: tuple[Tensor, Tensor]) -> None:
    """Forward is KL(P || Q), reverse KL(Q || P), with P of the teacher."""
    teacher, learner = (logits.log_softmax(dim=-1) for logits in drawn)
    # torch.distributions does not support -inf logits, so it gets only the feasible actions.
    for b in range(2):
        for s in range(3):
            mask = teacher[b, s].isfinite()
            p, q = (Categorical(logits=x[b, s][mask]) for x in (teacher, learner))
            for name, want in (("kl", kl_divergence(p, q)), ("rkl", kl_divergence(q, p))):
                got = lco.divergence(name)(teacher[b, s], learner[b, s])
                torch.testing.assert_close(got, want, rtol=1e-9, atol=1e-12)
    relative = special.rel_entr(teacher.exp().numpy(), learner.exp().numpy()).sum(axis=-1)
    torch.testing.assert_close(
        lco.divergence("kl")(teacher, learner), torch.from_numpy(relative), rtol=1e-9, atol=1e-12
    )


@given(drawn=behavior_pairs())
def test_rkl_is_kl_with_exchanged_arguments(drawn: tuple[Tensor, Tensor]) -> None:
    """``rkl(P, Q)`` is ``kl(Q, P)``."""
    teacher, learner = (logits.log_softmax(dim=-1) for logits in drawn)
    assert torch.equal(
        lco.divergence("rkl")(teacher, learner), lco.divergence("kl")(learner, teacher)
    )


@given(drawn=behavior_pairs())
def test_gradient_of_kl_is_q_minus_p(drawn: tuple[Tensor, Tensor]) -> None:
    """It is the gradient in the logits of the learner."""
    teacher, logits = drawn[0].log_softmax(dim=-1), drawn[1].requires_grad_()
    lco.divergence("kl")(teacher, logits.log_softmax(dim=-1)).sum().backward()
    want = logits.detach().softmax(dim=-1) - teacher.exp()
    torch.testing.assert_close(logits.grad, want, rtol=0, atol=1e-12)


@both
def test_certain_but_wrong_learner_is_as_far_as_the_log_odds(name: str) -> None:
    """The teacher gives almost no probability to the learner's action."""
    teacher = torch.tensor([0.0, -12.0], dtype=torch.float64).log_softmax(dim=-1)
    learner = torch.tensor([-12.0, 0.0], dtype=torch.float64).log_softmax(dim=-1)
    assert float(lco.divergence(name)(teacher, learner)) == pytest.approx(12, rel=1e-3)


def test_masked_action_of_the_teacher_has_probability_1e_9() -> None:
    """By hand: a learner undecided between a teacher's only action and a masked one."""
    teacher = torch.tensor([1.0, 0.0], dtype=torch.float64).log()
    learner = torch.tensor([0.5, 0.5], dtype=torch.float64).log()
    want = 0.5 * math.log(0.5) + 0.5 * (math.log(0.5) - math.log(1e-9))
    assert float(lco.divergence("rkl")(teacher, learner)) == pytest.approx(want, rel=1e-12)
    assert float(lco.divergence("kl")(teacher, learner)) == pytest.approx(math.log(2), rel=1e-12)
