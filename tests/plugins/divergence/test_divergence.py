"""The divergences: cases by hand, torch.distributions, and infeasible actions."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import behavior_pairs
from torch import Tensor

import lifelong_co as lco

NAMES = ("kl", "rkl")

OTHERS = ("mixture", "js", "squared")

all_of_them = pytest.mark.parametrize("name", [*NAMES, *OTHERS])


@all_of_them
@given(drawn=behavior_pairs())
def test_divergences_are_at_least_zero(name: str, drawn: tuple[Tensor, Tensor]) -> None:
    """One number per state, at least 0, and 0 for a learner that equals its teacher."""
    teacher, learner = (logits.log_softmax(dim=-1) for logits in drawn)
    distance = lco.divergence(name)(teacher, learner)
    assert distance.shape == (2, 3)
    assert (distance >= -1e-14).all()
    alike = lco.divergence(name)(teacher, teacher)
    rounding = 1e-14 if name == "js" else 0  # log(1/2 P + 1/2 P) is not P to the last bit
    torch.testing.assert_close(alike, torch.zeros_like(alike), rtol=0, atol=rounding)


@all_of_them
@given(drawn=behavior_pairs())
def test_gradients_are_finite_and_zero_where_infeasible(
    name: str, drawn: tuple[Tensor, Tensor]
) -> None:
    """Also with one feasible action, and with behaviors that are almost certain."""
    teacher, logits = drawn[0].log_softmax(dim=-1), drawn[1].requires_grad_()
    lco.divergence(name)(teacher, logits.log_softmax(dim=-1)).sum().backward()
    assert logits.grad.isfinite().all()
    assert not logits.grad[~teacher.isfinite()].any()


@all_of_them
@given(drawn=behavior_pairs())
def test_divergences_are_zero_only_for_equal_behaviors(
    name: str, drawn: tuple[Tensor, Tensor]
) -> None:
    """A distance ``d`` in L1 gives at least its square over 2 (Pinsker), 8 or ``A``."""
    teacher, learner = (logits.log_softmax(dim=-1) for logits in drawn)
    apart = (teacher.exp() - learner.exp()).abs().sum(dim=-1)
    least = apart**2 / {"js": 8, "squared": teacher.shape[-1]}.get(name, 2)
    assert (lco.divergence(name)(teacher, learner) >= least * (1 - 1e-9) - 1e-14).all()


@all_of_them
@given(drawn=behavior_pairs(), seed=st.integers(0, 999))
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
