"""Other divergences than forward and reverse KL: a mixture of both, Jensen-Shannon, squares.

Each function maps the log-probabilities of teacher ``P`` and learner ``Q``, ``[..., A]``, to
``[...]``: at least 0, and 0 only if ``P = Q``. -inf is handled as in `kullback_leibler`.
"""

import math

import torch
from torch import Tensor

from lifelong_co.errors import ConfigError
from lifelong_co.tensors.probabilities import probabilities
from lifelong_co_plugins.divergence.kullback_leibler import finite, kl, rkl


def mixture(teacher: Tensor, learner: Tensor, reverse: float = 0.5) -> Tensor:
    """``reverse * KL(Q || P) + (1 - reverse) * KL(P || Q)``, without an upper bound.

    ``reverse`` is in ``[0, 1]``; 1/2 gives half of Jeffreys' divergence. For another value use
    ``functools.partial(divergence("mixture"), reverse=0.2)``.

    Raises
    ------
    ConfigError
        If ``reverse`` is outside.
    """
    if not 0 <= reverse <= 1:
        raise ConfigError(f"divergence 'mixture': reverse: expected 0 to 1, got {reverse!r}")
    return reverse * rkl(teacher, learner) + (1 - reverse) * kl(teacher, learner)


def js(teacher: Tensor, learner: Tensor) -> Tensor:
    """``(KL(P || M) + KL(Q || M)) / 2`` with ``M = (P + Q) / 2``: symmetric, at most ``log 2``.

    Jensen-Shannon (Lin 1991). Its gradient is small where the learner gives almost no probability
    to the teacher's action: it corrects a certain but wrong learner less than `kl` does.
    """
    p, q = finite(teacher, learner)
    middle = torch.logaddexp(p, q) - math.log(2)
    forward = (probabilities(teacher) * (p - middle)).sum(dim=-1)
    return (forward + (probabilities(learner) * (q - middle)).sum(dim=-1)) / 2


def squared(teacher: Tensor, learner: Tensor) -> Tensor:
    """``sum (Q - P)^2``, at most 2: nearly proportional to the loss of the official code.

    With ``behavior="official"``, ``kl`` and ``rkl`` are both this divided by ``2 A``, to second
    order.
    """
    return (probabilities(learner) - probabilities(teacher)).square().sum(dim=-1)
