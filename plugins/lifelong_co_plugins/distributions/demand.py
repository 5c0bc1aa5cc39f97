"""What the nodes demand: batched maps from random numbers to demands in units, ``[B, n]``.

Demands are whole numbers from 0 to 10 in floating point; the distribution divides them by the
capacity. Nothing here draws, for the reason given in `nodes`.

Source: paper, appendix "Task Settings"; official code ``CVRP/CVRProblemDef.py``.
"""

import torch
from torch import Tensor

from lifelong_co.errors import ConfigError
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
        A capacity that was asked for, or None for the official rule: 30, 40 and 50 at
        ``n = 20, 50, 100`` and 100 at any other ``n``.
    """
    return _CAPACITY.get(size, 100) if capacity is None else capacity


def check_capacity(capacity: object) -> int | None:
    """Return a capacity that every demand fits, or None for the official rule.

    Raises
    ------
    ConfigError
        If it is no whole number, or below 10, the largest demand.
    """
    if capacity is None:
        return None
    if isinstance(capacity, bool) or not isinstance(capacity, int):
        raise ConfigError(f"capacity: expected a whole number or None, got {capacity!r}")
    if capacity < MOST:
        raise ConfigError(
            f"capacity: expected at least {MOST}, the largest demand of a node, got {capacity}"
        )
    return capacity


def gaussian(deviation: Tensor, *, least: int = LEAST) -> Tensor:
    """Return ``5 + deviation``, rounded and clamped to ``[least, 10]`` (E)."""
    return (deviation + GAUSSIAN_MEAN).round().clamp(least, MOST)


def gaussian_complement(deviation: Tensor, *, least: int = LEAST) -> Tensor:
    """Return 10 minus `gaussian`, hence in ``[0, 10 - least]`` (C)."""
    return MOST - gaussian(deviation, least=least)


def by_depot(nodes: Tensor, depot: Tensor, noise: Tensor, *, nearest_most: bool = False) -> Tensor:
    """Return demands linear in the noisy distance to the depot (G, R).

    Parameters
    ----------
    nodes, depot
        ``[B, n, 2]`` and ``[B, 1, 2]``.
    noise
        ``[B, n]``, added to the distance.
    nearest_most
        Whether the least noisy distance demands 10 and the greatest 1, instead of 1 and 10.
    """
    raw: Tensor = torch.linalg.vector_norm(nodes - depot, dim=2) + noise
    least = raw.amin(dim=1, keepdim=True)
    # The official guard against a division by zero; to change it would change bits.
    share = (raw - least) / (raw.amax(dim=1, keepdim=True) - least + 1e-8)
    if nearest_most:
        share = 1 - share
    return (share * (MOST - LEAST) + LEAST).round().clamp(LEAST, MOST)


def by_cluster(centers: Tensor, offsets: Tensor) -> Tensor:
    """Return demands that grow from 1 to 10 with the distance to the center, per cluster (GM).

    Parameters
    ----------
    centers
        ``[B, c]``, the centers' own demands.
    offsets
        ``[B, n - c, 2]``, the other nodes as seen from their centers, before scaling.

    Returns
    -------
    ``[B, n]``, truncated to whole numbers. A node alone in its cluster demands 1.
    """
    c = centers.shape[1]
    _, k, _ = cluster_sizes(c + offsets.shape[1])
    # In double precision: truncated, single would give other demands on other processors.
    distance = offsets.double().square().sum(dim=2).sqrt()  # [B, n - c]
    split = (c - 1) * k
    even = _share(distance[:, :split].reshape(len(offsets), c - 1, k)).flatten(1)
    last = _share(distance[:, split:])
    around = (torch.cat((even, last), dim=1) * (MOST - LEAST)).trunc() + LEAST
    return torch.cat((centers, around.to(centers.dtype)), dim=1)


def by_center(centers: Tensor, nodes: Tensor) -> Tensor:
    """Return ``10 · dist`` rounded, ``dist`` min-max over the instance (GM of the paper).

    Parameters
    ----------
    centers
        ``[B, c]``, the centers' own demands.
    nodes
        ``[B, n, 2]`` in the unit square, the centers first; distances are taken there.
    """
    c, n = centers.shape[1], nodes.shape[1]
    arrow = nodes[:, c:] - owners(nodes[:, :c], n)
    around = (_share(torch.linalg.vector_norm(arrow, dim=2)) * MOST).round()
    return torch.cat((centers, around), dim=1)


def _share(distance: Tensor) -> Tensor:
    """Return min-max over the last dimension, in ``[0, 1]``; all 0 where there is no range."""
    if distance.numel() == 0:
        return distance
    least = distance.amin(dim=-1, keepdim=True)
    extent = distance.amax(dim=-1, keepdim=True) - least
    return (distance - least) / torch.where(extent == 0, 1.0, extent)
