"""Demands of the nodes: maps from random numbers to demands in units, ``[B, n]``, for a batch.

Demands are whole numbers from 0 to 10 in floating point; the distribution divides them by the
capacity. Nothing here draws random numbers; `nodes` gives the reason.

Source: paper, appendix "Task Settings"; official code ``CVRP/CVRProblemDef.py``.
"""

import torch
from torch import Tensor

from lifelong_co.errors import ConfigError
from lifelong_co.validators import whole
from lifelong_co_plugins.distributions.nodes import cluster_sizes, owners

LEAST, MOST = 1, 10
GAUSSIAN_MEAN = 5.0  # E and C; the standard deviation is 1
_CAPACITY = {20: 30, 50: 40, 100: 50}


def capacity_of(size: int, capacity: int | None = None) -> int:
    """Return the vehicle's capacity in units.

    Parameters
    ----------
    size
        ``n``.
    capacity
        The result, or None for the official rule: 30, 40 and 50 at ``n = 20, 50, 100`` and 100 at
        any other ``n``.
    """
    return _CAPACITY.get(size, 100) if capacity is None else capacity


def check_capacity(capacity: object) -> int | None:
    """Return a capacity of at least the largest demand, or None for the official rule.

    Raises
    ------
    ConfigError
        If it is not a whole number, or is below 10, the largest demand.
    """
    if capacity is None:
        return None
    units = whole("capacity", capacity)
    if units < MOST:
        raise ConfigError(
            f"capacity: expected at least {MOST}, the largest demand of a node, got {units}"
        )
    return units


def gaussian(deviation: Tensor, *, least: int = LEAST) -> Tensor:
    """Return ``5 + deviation``, rounded and clamped to ``[least, 10]``; all ``[B, n]`` (E)."""
    return (deviation + GAUSSIAN_MEAN).round().clamp(least, MOST)


def gaussian_complement(deviation: Tensor, *, least: int = LEAST) -> Tensor:
    """Return 10 minus `gaussian`, in ``[0, 10 - least]`` (C)."""
    return MOST - gaussian(deviation, least=least)


def by_depot(
    nodes: Tensor,
    depot: Tensor,
    noise: Tensor,
    *,
    nearest_most: bool = False,
    rounded: bool = True,
) -> Tensor:
    """Return demands that are linear in the noisy distance to the depot (G, R).

    Parameters
    ----------
    nodes, depot
        ``[B, n, 2]`` and ``[B, 1, 2]``.
    noise
        ``[B, n]``, added to the distance.
    nearest_most
        False: the node with the least noisy distance has demand 1, the farthest 10. True: 10 and 1.
    rounded
        Whether demands are whole numbers.

    Returns
    -------
    ``[B, n]``, in 1 … 10.
    """
    raw: Tensor = torch.linalg.vector_norm(nodes - depot, dim=2) + noise
    least = raw.amin(dim=1, keepdim=True)
    # 1e-8 prevents a division by zero in the official code; another number would change bits.
    share = (raw - least) / (raw.amax(dim=1, keepdim=True) - least + 1e-8)
    if nearest_most:
        share = 1 - share
    units = share * (MOST - LEAST) + LEAST
    return units.round().clamp(LEAST, MOST) if rounded else units


def by_cluster(centers: Tensor, offsets: Tensor) -> Tensor:
    """Return demands that grow in each cluster from 1 to 10 with the distance to the center (GM).

    Parameters
    ----------
    centers
        ``[B, c]``, the demands of the centers.
    offsets
        ``[B, n - c, 2]``, from each other node's center to the node, before scaling.

    Returns
    -------
    ``[B, n]``, truncated to whole numbers, the centers first. A node that is alone in its cluster
    has demand 1.
    """
    c = centers.shape[1]
    _, k, _ = cluster_sizes(c + offsets.shape[1])
    # In double precision: single precision, truncated, would differ between processors.
    distance = offsets.double().square().sum(dim=2).sqrt()  # [B, n - c]
    split = (c - 1) * k
    even = _share(distance[:, :split].reshape(len(offsets), c - 1, k)).flatten(1)
    last = _share(distance[:, split:])
    around = (torch.cat((even, last), dim=1) * (MOST - LEAST)).trunc() + LEAST
    return torch.cat((centers, around.to(centers.dtype)), dim=1)


def by_center(centers: Tensor, nodes: Tensor) -> Tensor:
    """Return ``10 · dist``, rounded (GM in the text of the paper).

    ``dist`` is the distance to the center, scaled to ``[0, 1]`` by min-max over the instance.

    Parameters
    ----------
    centers
        ``[B, c]``, the demands of the centers.
    nodes
        ``[B, n, 2]`` in the unit square, the centers first.

    Returns
    -------
    ``[B, n]``, the centers first.
    """
    c, n = centers.shape[1], nodes.shape[1]
    arrow = nodes[:, c:] - owners(nodes[:, :c], n)
    around = (_share(torch.linalg.vector_norm(arrow, dim=2)) * MOST).round()
    return torch.cat((centers, around), dim=1)


def _share(distance: Tensor) -> Tensor:
    """Scale to ``[0, 1]`` by min-max over the last dimension; equal distances become 0."""
    if distance.numel() == 0:
        return distance
    least = distance.amin(dim=-1, keepdim=True)
    extent = distance.amax(dim=-1, keepdim=True) - least
    return (distance - least) / torch.where(extent == 0, 1.0, extent)
