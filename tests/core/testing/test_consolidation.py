"""`check_weighting` and `check_divergence` pass good functions and name the fault of others."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from contract_faults import assert_named
from torch import Tensor

import lifelong_co as lco
from lifelong_co import registry, testing

Weighting = Callable[[Tensor], Tensor]
kl = lco.divergence("kl")


def largest(probs: Tensor) -> Tensor:
    """Return the confidence."""
    return probs.amax(dim=-1)


def in_place(probs: Tensor) -> Tensor:
    """Change the input."""
    return probs.mul_(2).amax(dim=-1)


def by_highest() -> Weighting:
    """Return one that divides by the highest weight so far."""
    highest = [0.0]

    def weights(probs: Tensor) -> Tensor:
        highest[0] = max(highest[0], float(largest(probs).max()))
        return largest(probs) / highest[0]

    return weights


WEIGHTINGS: dict[str, tuple[str, Weighting]] = {
    "one for all": ("of shape [4]", lambda probs: probs.amax()),
    "one per action": ("of shape []", lambda probs: probs),
    "negative": ("at least 0, got -", lambda probs: -largest(probs)),
    "NaN": ("finite weights", lambda probs: largest(probs) * torch.nan),
    "half precision": ("weights of torch.float32", lambda probs: largest(probs).half()),
    "in place": ("stay unchanged", in_place),
    "by chance": ("at a second call", lambda probs: torch.rand_like(largest(probs))),
    "by the highest so far": ("after other behaviors", by_highest()),
    "normalised": ("a part of the states", lambda probs: largest(probs) / largest(probs).sum()),
}


def plain_kl(teacher: Tensor, learner: Tensor) -> Tensor:
    """Subtract infinities."""
    return (teacher.exp() * (teacher - learner)).sum(dim=-1)


def masked_late(teacher: Tensor, learner: Tensor) -> Tensor:
    """Replace NaN after it has come up."""
    gap = learner - teacher.nan_to_num(neginf=-20.0)
    return torch.where(learner.isneginf(), 0.0, learner.exp() * gap).sum(dim=-1)


DIVERGENCES: dict[str, tuple[str, Callable[[Tensor, Tensor], Tensor]]] = {
    "mean": ("of shape [4]", lambda p, q: kl(p, q).mean()),
    "detached": ("with gradients", lambda p, q: kl(p, q.detach())),
    "double": ("distances of torch.float32", lambda p, q: kl(p, q).double()),
    "infinities": ("finite distances", plain_kl),
    "negative": ("at least 0", lambda p, q: -kl(p, q)),
    "not zero": ("the distance 0 for equal", lambda p, q: kl(p, q) + 1),
    "always zero": ("distances above 0", lambda p, q: 0 * kl(p, q)),
    "masked late": ("finite gradients", masked_late),
    "normalised": ("a part of the states", lambda p, q: kl(p, q) / (1 + kl(p, q).sum())),
}


@pytest.mark.parametrize("name", registry.names("weighting"))
def test_shipped_weighting_passes(name: str) -> None:
    """All registered weightings keep the contract."""
    testing.check_weighting(lco.weighting(name))


@pytest.mark.parametrize("name", registry.names("divergence"))
def test_shipped_divergence_passes(name: str) -> None:
    """All registered divergences keep the contract."""
    testing.check_divergence(lco.divergence(name))


@pytest.mark.parametrize("mutant", WEIGHTINGS)
def test_fault_of_a_weighting_is_named(mutant: str) -> None:
    """One line says what is wrong."""
    says, weighting = WEIGHTINGS[mutant]
    assert_named(says, testing.check_weighting, weighting)


@pytest.mark.parametrize("mutant", DIVERGENCES)
def test_fault_of_a_divergence_is_named(mutant: str) -> None:
    """One line says what is wrong."""
    says, divergence = DIVERGENCES[mutant]
    assert_named(says, testing.check_divergence, divergence)


def test_gradient_of_an_infeasible_action_is_found() -> None:
    """The learner must not be pushed where no action is possible."""

    def pushed(teacher: Tensor, learner: Tensor) -> Tensor:
        both = teacher.isneginf() & learner.isneginf()
        return kl(teacher, learner) + Push.apply(learner.masked_fill(~both, 0.0)).sum(dim=-1)

    with pytest.raises(testing.ContractError, match="of 0 where both are -inf"):
        testing.check_divergence(pushed)


class Push(torch.autograd.Function):
    """Zero with a gradient of one."""

    @staticmethod
    def forward(context: object, given: Tensor) -> Tensor:  # noqa: ARG004
        """Return zeros."""
        return torch.zeros_like(given)

    @staticmethod
    def backward(context: object, gradient: Tensor) -> Tensor:  # noqa: ARG004
        """Return ones."""
        return torch.ones_like(gradient)


@pytest.mark.parametrize("wrong", [3, lambda: torch.ones(1), lambda _p, _q, _r: torch.ones(1)])
def test_what_cannot_be_called_so_is_named(wrong: Any) -> None:
    """A number, and functions of fewer and of more arguments."""
    with pytest.raises(testing.ContractError, match=r"check_weighting: .* function of probs, got"):
        testing.check_weighting(wrong)
    with pytest.raises(testing.ContractError, match="function of teacher, learner, got"):
        testing.check_divergence(wrong)
