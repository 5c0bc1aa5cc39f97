"""A weighting for lifelong-co: the less likely the likeliest action, the more a state matters."""

from torch import Tensor

import lifelong_co as lco


def max_prob(probs: Tensor) -> Tensor:
    """Return ``1 - max P``: probs ``[..., A]`` to weights ``[...]``."""
    return 1.0 - probs.amax(dim=-1)


@lco.hookimpl
def register_weightings(register):
    """Register ``max-prob``."""
    register("max-prob", max_prob)
