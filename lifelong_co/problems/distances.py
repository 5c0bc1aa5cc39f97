"""The distance between two points of the plane: Euclidean, Manhattan or Chebyshev.

Each instance keeps the exponent ``p`` of its Minkowski distance, in a tensor ``[B]``. So a replayed
batch has the same costs as when it was learned, and one batch can hold instances of two tasks.
Euclidean instances need no exponent; their tensor is None.
"""

import math
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.errors import ConfigError, UnknownNameError

EUCLIDEAN = "euclidean"
EXPONENTS = {EUCLIDEAN: 2.0, "manhattan": 1.0, "chebyshev": math.inf}
"""Name to ``p``: the distance is ``(|dx|^p + |dy|^p)^(1/p)``; for infinite p the larger of both."""


def exponent(name: str) -> float:
    """Return the ``p`` of a distance.

    Raises
    ------
    ConfigError
        If the name is no text.
    UnknownNameError
        If `EXPONENTS` lacks the name.
    """
    if not isinstance(name, str):
        known = ", ".join(EXPONENTS)
        raise ConfigError(f"distance: expected a name ({known}), got {name!r:.80}")
    if name not in EXPONENTS:
        raise UnknownNameError("distance", name, EXPONENTS)
    return EXPONENTS[name]


def exponents(name: str, nodes: Tensor) -> Tensor | None:
    """Return the field ``distance`` of instances with ``nodes [B, n, 2]``.

    Returns
    -------
    ``p`` of each instance, ``[B]``, with the dtype and device of the nodes; None if Euclidean.

    Raises
    ------
    UnknownNameError
        If `EXPONENTS` lacks the name.
    """
    p = exponent(name)
    return None if name == EUCLIDEAN else nodes.new_full(nodes.shape[:1], p)


def measured(instances: Any, name: str) -> Any:
    """Return instances with a distance other than the Euclidean.

    Parameters
    ----------
    instances
        A record of instances; with ``nodes [B, n, 2]`` if another distance is wanted.
    name
        A name in `EXPONENTS`; ``euclidean`` returns the same record, with the distance it has.

    Raises
    ------
    ConfigError
        If the problem of these instances supports only the Euclidean distance.
    UnknownNameError
        If `EXPONENTS` lacks the name.
    """
    if exponent(name) == EXPONENTS[EUCLIDEAN]:
        return instances
    kind = type(instances)
    if "distance" not in attrs.fields_dict(kind):
        raise ConfigError(
            f"distance: expected {EUCLIDEAN!r}, the only distance of {kind.__name__}, got {name!r}"
        )
    return attrs.evolve(instances, distance=exponents(name, instances.nodes))


def lengths(legs: Tensor, p: Tensor | None = None) -> Tensor:
    """Return the lengths ``[B, *]`` of ``legs`` ``[B, *, 2]``.

    Parameters
    ----------
    legs
        Differences of coordinates; ``[B, S, T, 2]`` if ``p`` is given.
    p
        ``[B]``, each 1, 2 or infinite; None: 2 for all.
    """
    straight = legs.square().sum(dim=-1).sqrt()
    if p is None:
        return straight
    # Compute all three and choose: an `if` on the values of p would wait for the device.
    blocks, longer = legs.abs().sum(dim=3), legs.abs().amax(dim=3)
    power = p[:, None, None]
    return torch.where(power == 1, blocks, torch.where(power == 2, straight, longer))
