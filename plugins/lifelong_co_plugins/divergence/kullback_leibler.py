"""The Kullback-Leibler divergence in both directions (paper §3.3 and appendix, "Reverse KLD").

Each maps the log-probabilities of teacher ``P`` and learner ``Q``, ``[..., A]``, to ``[...]``, at
least 0 and unbounded. Actions that are -inf in both add nothing and get no gradient.
"""

from torch import Tensor


def kl(teacher: Tensor, learner: Tensor) -> Tensor:
    """``KL(P || Q) = sum P log(P / Q)``: the learner covers all that the teacher might do."""
    return (teacher.exp() * finite_difference(teacher, learner)).sum(dim=-1)


def rkl(teacher: Tensor, learner: Tensor) -> Tensor:
    """``KL(Q || P) = sum Q log(Q / P)``: the learner seeks the teacher's decision (DsBC)."""
    return (learner.exp() * finite_difference(learner, teacher)).sum(dim=-1)


def finite_difference(minuend: Tensor, subtrahend: Tensor) -> Tensor:
    """Return ``minuend - subtrahend``, and 0 where the teacher and the learner forbid the action.

    -inf minus -inf is NaN, and a NaN that is masked afterwards still has a NaN gradient; so the
    infinities are replaced before the subtraction.
    """
    feasible = minuend.isfinite()
    return minuend.masked_fill(~feasible, 0.0) - subtrahend.masked_fill(~feasible, 0.0)
