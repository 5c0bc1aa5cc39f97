"""Divergences beside forward and reverse KL: a mixture of both, Jensen-Shannon, squares.

Each maps the log-probabilities of teacher ``P`` and learner ``Q``, ``[..., A]``, to ``[...]``, at
least 0, and 0 only for ``P = Q``. What is -inf in one or both is as in `kullback_leibler`.
"""

import math

import torch
from torch import Tensor

from lifelong_co.tensors.probabilities import probabilities
from lifelong_co_plugins.divergence.kullback_leibler import finite, kl, rkl


def mixture(teacher: Tensor, learner: Tensor, reverse: float = 0.5) -> Tensor:
    """``reverse * KL(Q || P) + (1 - reverse) * KL(P || Q)``; unbounded.

    By name it is 1/2, half of Jeffreys' divergence. Another share is
    ``functools.partial(divergence("mixture"), reverse=0.2)``.
    """
    return reverse * rkl(teacher, learner) + (1 - reverse) * kl(teacher, learner)


def js(teacher: Tensor, learner: Tensor) -> Tensor:
    """``(KL(P || M) + KL(Q || M)) / 2`` with ``M = (P + Q) / 2``: symmetric, at most ``log 2``.

    Jensen-Shannon (Lin 1991). Its gradient stays small where the learner all but excludes what
    the teacher does: it pulls less than `kl` out of a wrong certainty.
    """
    p, q = finite(teacher, learner)
    middle = torch.logaddexp(p, q) - math.log(2)
    forward = (probabilities(teacher) * (p - middle)).sum(dim=-1)
    return (forward + (probabilities(learner) * (q - middle)).sum(dim=-1)) / 2


def squared(teacher: Tensor, learner: Tensor) -> Tensor:
    """``sum (Q - P)^2``, at most 2: what the official loss amounts to.

    With ``behavior="official"`` either KL is this over ``2 A`` to second order (design.md §5).
    """
    return (probabilities(learner) - probabilities(teacher)).square().sum(dim=-1)
