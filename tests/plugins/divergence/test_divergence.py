"""The divergences: cases by hand, torch.distributions, and infeasible actions."""

import functools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from torch import Tensor
from torch.distributions import Categorical, kl_divergence

import lifelong_co as lco

NAMES = ("kl", "rkl")
OTHERS = ("mixture", "js", "squared")
both = pytest.mark.parametrize("name", NAMES)
all_of_them = pytest.mark.parametrize("name", [*NAMES, *OTHERS])


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Tensor, Tensor]:
    """Draw logits ``[2, 3, A]`` of teacher and learner, -inf on the same infeasible actions."""
    A = draw(st.integers(2, 10))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32 - 1)))
    mask = torch.rand((2, 3, A), generator=generator) < draw(st.sampled_from([0.2, 0.6, 1.0]))
    mask[..., draw(st.integers(0, A - 1))] = True
    scale = draw(st.sampled_from([0.1, 1.0, 20.0]))
    drawn = scale * torch.randn((2, 2, 3, A), generator=generator, dtype=torch.float64)
    teacher, learner = drawn.masked_fill(~mask, -torch.inf)
    return teacher, learner


def test_kl_and_rkl_by_hand() -> None:
    """(1/2, 1/2) and (1/4, 3/4), in both directions, and with an infeasible action."""
    for extra in ([], [0.0]):
        p = torch.tensor([0.5, 0.5, *extra], dtype=torch.float64).log()
        q = torch.tensor([0.25, 0.75, *extra], dtype=torch.float64).log()
        forward = 0.5 * math.log(2) + 0.5 * math.log(2 / 3)
        reverse = 0.25 * math.log(1 / 2) + 0.75 * math.log(3 / 2)
        assert float(lco.divergence("kl")(p, q)) == pytest.approx(forward, rel=1e-12)
        assert float(lco.divergence("rkl")(p, q)) == pytest.approx(reverse, rel=1e-12)


@all_of_them
@given(drawn=pairs())
def test_divergences_are_at_least_zero(name: str, drawn: tuple[Tensor, Tensor]) -> None:
    """One number per state, at least 0, and 0 for a learner that equals its teacher."""
    teacher, learner = (logits.log_softmax(dim=-1) for logits in drawn)
    distance = lco.divergence(name)(teacher, learner)
    assert distance.shape == (2, 3)
    assert (distance >= -1e-14).all()
    alike = lco.divergence(name)(teacher, teacher)
    rounding = 1e-14 if name == "js" else 0  # log(1/2 P + 1/2 P) is not P to the last bit
    torch.testing.assert_close(alike, torch.zeros_like(alike), rtol=0, atol=rounding)


@given(drawn=pairs())
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


@given(drawn=pairs())
def test_rkl_is_kl_with_exchanged_arguments(drawn: tuple[Tensor, Tensor]) -> None:
    """``rkl(P, Q)`` is ``kl(Q, P)``."""
    teacher, learner = (logits.log_softmax(dim=-1) for logits in drawn)
    assert torch.equal(
        lco.divergence("rkl")(teacher, learner), lco.divergence("kl")(learner, teacher)
    )


@all_of_them
@given(drawn=pairs())
def test_gradients_are_finite_and_zero_where_infeasible(
    name: str, drawn: tuple[Tensor, Tensor]
) -> None:
    """Also with one feasible action, and with behaviors that are almost certain."""
    teacher, logits = drawn[0].log_softmax(dim=-1), drawn[1].requires_grad_()
    lco.divergence(name)(teacher, logits.log_softmax(dim=-1)).sum().backward()
    assert logits.grad.isfinite().all()
    assert not logits.grad[~teacher.isfinite()].any()


@given(drawn=pairs())
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


@all_of_them
@given(drawn=pairs())
def test_divergences_are_zero_only_for_equal_behaviors(
    name: str, drawn: tuple[Tensor, Tensor]
) -> None:
    """A distance ``d`` in L1 gives at least its square over 2 (Pinsker), 8 or ``A``."""
    teacher, learner = (logits.log_softmax(dim=-1) for logits in drawn)
    apart = (teacher.exp() - learner.exp()).abs().sum(dim=-1)
    least = apart**2 / {"js": 8, "squared": teacher.shape[-1]}.get(name, 2)
    assert (lco.divergence(name)(teacher, learner) >= least * (1 - 1e-9) - 1e-14).all()


@given(drawn=pairs(), reverse=st.floats(0, 1))
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


@given(drawn=pairs())
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
@given(drawn=pairs())
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


@all_of_them
@given(drawn=pairs(), seed=st.integers(0, 999))
def test_teacher_may_mask_feasible_actions_of_the_learner(
    name: str, drawn: tuple[Tensor, Tensor], seed: int
) -> None:
    """INViT, which sees only the nearest nodes, teaches POMO: values and gradients are finite."""
    logits = drawn[1].nan_to_num(neginf=0.0).requires_grad_()  # all actions are feasible
    only = torch.randint(logits.shape[-1], (2, 3, 1), generator=torch.Generator().manual_seed(seed))
    teacher = torch.full_like(logits, -torch.inf).scatter(-1, only, 0.0).detach()
    distance = lco.divergence(name)(teacher, logits.log_softmax(dim=-1))
    assert distance.isfinite().all()
    assert (distance > -1e-6).all()
    distance.sum().backward()
    assert logits.grad.isfinite().all()


def test_masked_action_of_the_teacher_has_probability_1e_9() -> None:
    """By hand: a learner undecided between a teacher's only action and a masked one."""
    teacher = torch.tensor([1.0, 0.0], dtype=torch.float64).log()
    learner = torch.tensor([0.5, 0.5], dtype=torch.float64).log()
    want = 0.5 * math.log(0.5) + 0.5 * (math.log(0.5) - math.log(1e-9))
    assert float(lco.divergence("rkl")(teacher, learner)) == pytest.approx(want, rel=1e-12)
    assert float(lco.divergence("kl")(teacher, learner)) == pytest.approx(math.log(2), rel=1e-12)
