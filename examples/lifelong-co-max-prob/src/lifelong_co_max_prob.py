"""A weighting for lifelong-co: states in which the likeliest action is not certain weigh more."""

from torch import Tensor

import lifelong_co as lco


def max_prob(probs: Tensor) -> Tensor:
    """Return the weights ``1 - max P`` ``[...]`` of probs ``[..., A]``."""
    return 1.0 - probs.amax(dim=-1)


@lco.hookimpl
def register_weightings(register):
    """Register ``max-prob``."""
    register("max-prob", max_prob)
