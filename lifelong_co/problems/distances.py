"""How far apart two points of the plane are: Euclidean, Manhattan or Chebyshev.

Instances carry the exponent ``p`` of their Minkowski distance as a tensor ``[B]``: so a batch that
is replayed, or that holds instances of two tasks, costs what it cost when it was learned. Euclidean
instances carry none.
"""

import math
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.errors import ConfigError, UnknownNameError

EUCLIDEAN = "euclidean"
EXPONENTS = {EUCLIDEAN: 2.0, "manhattan": 1.0, "chebyshev": math.inf}
"""Name to ``p``: the distance is ``(|dx|^p + |dy|^p)^(1/p)``, in the limit the larger of both."""


def exponent(name: str) -> float:
    """Return the ``p`` of a distance.

    Raises
    ------
    UnknownNameError
        If there is no such distance.
    """
    if name not in EXPONENTS:
        raise UnknownNameError("distance", name, EXPONENTS)
    return EXPONENTS[name]


def exponents(name: str, nodes: Tensor) -> Tensor | None:
    """Return what instances with ``nodes [B, n, 2]`` carry: ``p`` ``[B]``; Euclidean ones, None.

    Raises
    ------
    UnknownNameError
        If there is no such distance.
    """
    p = exponent(name)
    return None if name == EUCLIDEAN else nodes.new_full(nodes.shape[:1], p)


def measured(instances: Any, name: str) -> Any:
    """Return the same instances under another distance than the Euclidean they come with.

    Raises
    ------
    ConfigError
        If the instances are of a problem that has no other.
    UnknownNameError
        If there is no such distance.
    """
    p = exponents(name, instances.nodes)
    if p is None:
        return instances
    kind = type(instances)
    if "distance" not in attrs.fields_dict(kind):
        raise ConfigError(
            f"distance: expected {EUCLIDEAN!r}, the only one that {kind.__name__} has, got {name!r}"
        )
    return attrs.evolve(instances, distance=p)


def lengths(legs: Tensor, p: Tensor | None) -> Tensor:
    """Return the lengths ``[B, S, T]`` of ``legs`` ``[B, S, T, 2]``.

    Parameters
    ----------
    legs
        Differences of coordinates.
    p
        ``[B]``, each 1, 2 or infinite; None: 2 throughout.
    """
    straight = legs.square().sum(dim=3).sqrt()
    if p is None:
        return straight
    # All three, and chosen from: asking for the values would wait for the device.
    blocks, longer = legs.abs().sum(dim=3), legs.abs().amax(dim=3)
    power = p[:, None, None]
    return torch.where(power == 1, blocks, torch.where(power == 2, straight, longer))
