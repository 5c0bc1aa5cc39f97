"""The Kullback-Leibler divergence in both directions (paper §3.3 and appendix, "Reverse KLD").

Each function maps the log-probabilities of teacher ``P`` and learner ``Q``, ``[..., A]``, to
``[...]``, at least 0. An action that is -inf in both adds nothing and gets no gradient. An action
that is -inf in only one of them gets the probability 1e-9 there, as in the official code; this
happens when INViT, which sees only the nearest nodes, is the teacher of a solver that sees all.
"""

import math

import torch
from torch import Tensor

from lifelong_co.tensors.probabilities import probabilities

# Replaces -inf only: the clipped logits of every solver give larger log-probabilities.
LEAST = math.log(1e-9)


def kl(teacher: Tensor, learner: Tensor, guard: float = 0.0) -> Tensor:
    """``KL(P || Q) = sum P log(P / Q)``: the learner covers all likely actions of the teacher.

    ``guard`` is added to the probabilities in the denominator.
    """
    p, q = finite(teacher, learner)
    q = guarded(q, guard)
    return (probabilities(teacher) * (p - q)).sum(dim=-1)


def rkl(teacher: Tensor, learner: Tensor, guard: float = 0.0) -> Tensor:
    """``KL(Q || P) = sum Q log(Q / P)``: the learner seeks the teacher's best action (DsBC).

    ``guard`` is added to the probabilities in the denominator.
    """
    p, q = finite(teacher, learner)
    p = guarded(p, guard)
    return (probabilities(learner) * (q - p)).sum(dim=-1)


def guarded(log_probs: Tensor, guard: float) -> Tensor:
    """Return the logarithm of the probabilities plus a guard; the guard of 0 changes nothing."""
    return torch.log(probabilities(log_probs) + guard) if guard else log_probs


def finite(teacher: Tensor, learner: Tensor) -> tuple[Tensor, Tensor]:
    """Return both without infinities: 0 where both are -inf, `LEAST` where one of them is.

    -inf minus -inf is NaN, and a NaN has a NaN gradient even if it is masked later. So infinities
    are replaced before any subtraction.
    """
    forbidden = teacher.isinf(), learner.isinf()
    both = forbidden[0] & forbidden[1]
    p, q = (
        torch.where(where, LEAST, x).masked_fill(both, 0.0)
        for where, x in zip(forbidden, (teacher, learner), strict=True)
    )
    return p, q
