"""The Kullback-Leibler divergence in both directions (paper §3.3 and appendix, "Reverse KLD").

Each maps the log-probabilities of teacher ``P`` and learner ``Q``, ``[..., A]``, to ``[...]``, at
least 0. Actions that are -inf in both add nothing and get no gradient. One that is -inf in one of
them only, as where INViT's nearest nodes teach a solver that may go anywhere, has 1e-9 there: the
official code's guard.
"""

import math

import torch
from torch import Tensor

from lifelong_co.tensors.probabilities import probabilities

# Below what any solver's clipped logits give; only -inf is replaced by it.
LEAST = math.log(1e-9)


def kl(teacher: Tensor, learner: Tensor) -> Tensor:
    """``KL(P || Q) = sum P log(P / Q)``: the learner covers all that the teacher might do."""
    p, q = finite(teacher, learner)
    return (probabilities(teacher) * (p - q)).sum(dim=-1)


def rkl(teacher: Tensor, learner: Tensor) -> Tensor:
    """``KL(Q || P) = sum Q log(Q / P)``: the learner seeks the teacher's decision (DsBC)."""
    p, q = finite(teacher, learner)
    return (probabilities(learner) * (q - p)).sum(dim=-1)


def finite(teacher: Tensor, learner: Tensor) -> tuple[Tensor, Tensor]:
    """Return both without infinities: `LEAST` where one has one, 0 where both have.

    -inf minus -inf is NaN, and a NaN that is masked afterwards still has a NaN gradient; so the
    infinities are replaced before any subtraction.
    """
    forbidden = teacher.isinf(), learner.isinf()
    both = forbidden[0] & forbidden[1]
    p, q = (
        torch.where(where, LEAST, x).masked_fill(both, 0.0)
        for where, x in zip(forbidden, (teacher, learner), strict=True)
    )
    return p, q
