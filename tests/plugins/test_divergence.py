"""The divergences by hand and against torch.distributions, with infeasible actions."""

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
both = pytest.mark.parametrize("name", NAMES)


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


def test_by_hand() -> None:
    """(1/2, 1/2) against (1/4, 3/4), in both directions, and beside an infeasible action."""
    for extra in ([], [0.0]):
        p = torch.tensor([0.5, 0.5, *extra], dtype=torch.float64).log()
        q = torch.tensor([0.25, 0.75, *extra], dtype=torch.float64).log()
        forward = 0.5 * math.log(2) + 0.5 * math.log(2 / 3)
        reverse = 0.25 * math.log(1 / 2) + 0.75 * math.log(3 / 2)
        assert float(lco.divergence("kl")(p, q)) == pytest.approx(forward, rel=1e-12)
        assert float(lco.divergence("rkl")(p, q)) == pytest.approx(reverse, rel=1e-12)


@both
@given(drawn=pairs())
def test_it_is_at_least_zero(name: str, drawn: tuple[Tensor, Tensor]) -> None:
    """One number per state, at least 0, and 0 for a learner that is its teacher."""
    teacher, learner = (logits.log_softmax(dim=-1) for logits in drawn)
    distance = lco.divergence(name)(teacher, learner)
    assert distance.shape == (2, 3)
    assert (distance >= -1e-14).all()
    assert torch.equal(lco.divergence(name)(teacher, teacher), torch.zeros_like(distance))


@given(drawn=pairs())
def test_against_torch_and_scipy(drawn: tuple[Tensor, Tensor]) -> None:
    """Forward is KL(P || Q), reverse KL(Q || P), for P the teacher's."""
    teacher, learner = (logits.log_softmax(dim=-1) for logits in drawn)
    # torch.distributions takes no -inf logits for granted: it is given the feasible actions.
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
def test_one_is_the_other_reversed(drawn: tuple[Tensor, Tensor]) -> None:
    """``rkl(P, Q)`` is ``kl(Q, P)``."""
    teacher, learner = (logits.log_softmax(dim=-1) for logits in drawn)
    assert torch.equal(
        lco.divergence("rkl")(teacher, learner), lco.divergence("kl")(learner, teacher)
    )


@both
@given(drawn=pairs())
def test_gradients_are_finite_and_zero_where_infeasible(
    name: str, drawn: tuple[Tensor, Tensor]
) -> None:
    """Also with one feasible action left, and with behaviors that are all but certain."""
    teacher, logits = drawn[0].log_softmax(dim=-1), drawn[1].requires_grad_()
    lco.divergence(name)(teacher, logits.log_softmax(dim=-1)).sum().backward()
    assert logits.grad.isfinite().all()
    assert not logits.grad[~teacher.isfinite()].any()


@given(drawn=pairs())
def test_the_gradient_of_kl_is_the_difference(drawn: tuple[Tensor, Tensor]) -> None:
    """In the logits of the learner it is ``Q - P``."""
    teacher, logits = drawn[0].log_softmax(dim=-1), drawn[1].requires_grad_()
    lco.divergence("kl")(teacher, logits.log_softmax(dim=-1)).sum().backward()
    want = logits.detach().softmax(dim=-1) - teacher.exp()
    torch.testing.assert_close(logits.grad, want, rtol=0, atol=1e-12)


@both
def test_the_wrong_certain_decision_is_far(name: str) -> None:
    """A learner certain of what its teacher all but excludes is as far as the log-odds."""
    teacher = torch.tensor([0.0, -12.0], dtype=torch.float64).log_softmax(dim=-1)
    learner = torch.tensor([-12.0, 0.0], dtype=torch.float64).log_softmax(dim=-1)
    assert float(lco.divergence(name)(teacher, learner)) == pytest.approx(12, rel=1e-3)
