"""The fast samplers: all random numbers of a batch at once, then the maps of `nodes` and `demand`.

Each sampler takes the noise, ``B``, ``n``, the depot ``[B, 1, 2]`` (None: a TSP, without demand)
and whether to follow the text of the paper instead of the official code. It returns nodes
``[B, n, 2]`` and demands in units ``[B, n]``; the demands of a TSP are None. No sampler waits for
the device. `distribution` has the table of differences between paper and official code.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from lifelong_co_plugins.distributions import demand, nodes
from lifelong_co_plugins.distributions.noise import Noise

Sampled = tuple[Tensor, Tensor | None]
Sampler = Callable[[Noise, int, int, Tensor | None, bool], Sampled]


def uniform(noise: Noise, batch: int, size: int, depot: Tensor | None, paper: bool) -> Sampled:  # noqa: ARG001
    """U: uniform nodes, demands uniform in 1 … 10."""
    placed = noise.uniform(batch, size, 2)
    if depot is None:
        return placed, None
    return placed, noise.integers(demand.LEAST, demand.MOST, batch, size)


def gaussian_mixture(
    noise: Noise, batch: int, size: int, depot: Tensor | None, paper: bool
) -> Sampled:
    """GM: Gaussian clusters around five centers, demands growing with the distance to them."""
    c, _, _ = nodes.cluster_sizes(size)
    centers = noise.uniform(batch, c, 2) * nodes.CENTER_SPREAD
    offsets = noise.normal(batch, size - c, 2)
    placed = nodes.mixture(centers, offsets)
    if depot is None:
        return placed, None
    own = noise.integers(demand.LEAST, demand.MOST, batch, c)
    if paper:
        return placed, demand.by_center(own, placed)
    return placed, demand.by_cluster(own, offsets)


def explosion(noise: Noise, batch: int, size: int, depot: Tensor | None, paper: bool) -> Sampled:
    """E: uniform nodes, those near a center moved away from it; Gaussian demands."""
    surplus = noise.exponential(batch, size, 1, rate=nodes.EXPLOSION_RATE)
    start, center = noise.uniform(batch, size, 2), noise.uniform(batch, 1, 2)
    placed = nodes.explode(start, center, surplus, displace=paper)
    if depot is None:
        return placed.clamp(0.0, 1.0) if paper else nodes.fill_square(placed), None
    deviation = noise.normal(batch, size)
    return placed.clamp(0.0, 1.0), demand.gaussian(deviation, least=_gaussian_least(paper))


def compression(noise: Noise, batch: int, size: int, depot: Tensor | None, paper: bool) -> Sampled:
    """C: uniform nodes, those near a line moved to it; demands are 10 minus Gaussian ones."""
    across = noise.normal(batch, size, 1) * nodes.STRIP_DEVIATION
    start = noise.uniform(batch, size, 2)
    p1, p2 = noise.uniform(batch, 1, 2), noise.uniform(batch, 1, 2)
    placed = nodes.compress(start, p1, p2, across, replace=paper).clamp(0.0, 1.0)
    if depot is None:
        return placed, None
    deviation = noise.normal(batch, size)
    return placed, demand.gaussian_complement(deviation, least=_gaussian_least(paper))


def grid(noise: Noise, batch: int, size: int, depot: Tensor | None, paper: bool) -> Sampled:
    """G: a grid in a rectangle, demands growing with the distance to the depot."""
    short = noise.uniform(batch, 1, low=nodes.ASPECT[0], high=nodes.ASPECT[1])
    long = torch.full_like(short, 1.0 if paper else nodes.LONG_SIDE)
    lying = noise.coin(batch, 1)
    width, height = torch.where(lying, long, short), torch.where(lying, short, long)
    free = 1 - torch.stack((width, height), dim=2)  # [B, 1, 2]: room left to move the center
    center = noise.uniform(batch, 1, 2) * free + (1 - free) / 2
    columns = nodes.columns_of(size, width, height)
    placed = nodes.grid(size, width, height, columns, center)
    if depot is None:
        return placed, None
    return placed, demand.by_depot(placed, depot, noise.uniform(batch, size))


def ring(noise: Noise, batch: int, size: int, depot: Tensor | None, paper: bool) -> Sampled:
    """R: a ring with one coordinate reduced, demands by the distance to the depot."""
    low, high = nodes.RING_RADIUS
    mean = noise.uniform(batch, size if paper else 1, low=low, high=high)
    radius = mean + noise.normal(batch, size) * nodes.RING_DEVIATION
    aspect = noise.uniform(batch, 1, low=nodes.ASPECT[0], high=nodes.ASPECT[1])
    placed = nodes.ring(noise.uniform(batch, size), radius, aspect, noise.coin(batch, 1))
    if depot is None:
        return placed, None
    jitter = noise.uniform(batch, size) * (2.0 if paper else 1.0)
    return placed, demand.by_depot(placed, depot, jitter, nearest_most=not paper)


def _gaussian_least(paper: bool) -> int:
    return 0 if paper else demand.LEAST


SAMPLERS: dict[str, Sampler] = {
    "U": uniform,
    "GM": gaussian_mixture,
    "E": explosion,
    "C": compression,
    "G": grid,
    "R": ring,
}
