"""Draws in the order of the official code, instance by instance: same seed, same bits.

The maps are those of `nodes` and `demand`, except for the grid. The draws have the order and the
shapes of the official code, because torch's generators give the same bits only then. The streams
are local: no global random state is read or written. The bits are those of x86 processors with AVX2
or AVX-512; on others torch rounds coordinates differently, by less than 1e-6.

Source: official code at commit 9ae601f, ``CVRP/CVRProblemDef.py``, ``TSP/TSProblemDef.py`` and
``generate_and_save_probelms`` of the two ``*Env.py``.
"""

import math
import random
from collections.abc import Callable

import attrs
import torch
from torch import Tensor

from lifelong_co_plugins.distributions import demand, nodes
from lifelong_co_plugins.distributions.noise import Noise
from lifelong_co_plugins.distributions.samplers import Sampled

TEST_SIZES = {"U": 20, "R": 20, "G": 50, "E": 50, "C": 100, "GM": 100}
TEST_INSTANCES = 1000
TEST_SEED = 0
# The published files hold 10,000 instances. Some numbers are drawn for all of them before the first
# instance, so the total changes every later draw.
PUBLISHED_INSTANCES = 10_000


@attrs.frozen
class Drawn:
    """Instances in the official order; ``depot`` and ``demand`` are None for the TSP."""

    nodes: Tensor  # [B, n, 2]
    depot: Tensor | None  # [B, 1, 2]
    demand: Tensor | None  # [B, n], in units


def draw(
    name: str,
    batch: int,
    size: int,
    *,
    with_demand: bool,
    seed: int = TEST_SEED,
    of: int | None = None,
    stored: bool = False,
) -> Drawn:
    """Return the first ``batch`` instances that the official generator makes.

    Parameters
    ----------
    name
        ``U GM E C G R``.
    batch, size
        ``B >= 1`` and ``n >= 2``. For GM the official code fails below 10 nodes, and its demands
        fail below 15; for those sizes see `nodes.cluster_sizes`.
    with_demand
        True: for the CVRP, with depot and demand. False: for the TSP.
    seed
        The seed of both streams, torch's and Python's.
    of
        How many instances the official call makes in total, at least ``batch``; None: ``batch``.
    stored
        Whether R has the demands of the published file: not rounded, and growing with the distance.
        An earlier generator made the file; this line of it is a comment in the present one.

    Returns
    -------
    Float32 tensors on the CPU.
    """
    total = batch if of is None else of
    noise, coins = Noise(torch.Generator().manual_seed(seed)), random.Random(seed)
    depot = noise.uniform(total, 1, 2)[:batch] if with_demand else None
    if name == "U":
        placed = noise.uniform(total, size, 2)[:batch]
        return Drawn(placed, depot, _integers(noise, total, size)[:batch] if with_demand else None)
    early = noise.normal(total, size) if with_demand and name in ("E", "C") else None
    parts = [
        _DRAWS[name](
            _Instance(
                noise=noise,
                coins=coins,
                size=size,
                depot=None if depot is None else depot[b : b + 1],
                deviation=None if early is None else early[b : b + 1],
                stored=stored,
            )
        )
        for b in range(batch)
    ]
    wanted = [units for _, units in parts if units is not None]
    return Drawn(
        nodes=torch.cat([placed for placed, _ in parts]),
        depot=depot,
        demand=torch.cat(wanted) if wanted else None,
    )


def _integers(noise: Noise, *shape: int) -> Tensor:
    return noise.integers(demand.LEAST, demand.MOST, *shape)


@attrs.frozen
class _Instance:
    """The sources of one instance: torch's and Python's streams, and the numbers drawn earlier."""

    noise: Noise
    coins: random.Random
    size: int
    depot: Tensor | None  # [1, 1, 2]; None: a TSP, so no demand
    deviation: Tensor | None  # [1, n], for the demands of E and C
    stored: bool  # whether the demands of R are those of the published file

    def number(self, low: float, high: float) -> Tensor:
        """Return a draw of U(low, high), ``[1, 1]``, rounded as by torch's ``uniform_``."""
        one = torch.empty(1, 1, dtype=torch.float32)
        return one.uniform_(low, high, generator=self.noise.generator)

    def coin(self) -> bool:
        """Return whether the official code makes y the shorter side, instead of x."""
        return self.coins.random() > 0.5


def _gaussian_mixture(instance: _Instance) -> Sampled:
    noise = instance.noise
    c, k, m = nodes.cluster_sizes(instance.size)
    centers = noise.uniform(1, c, 2) * nodes.CENTER_SPREAD
    own = None if instance.depot is None else _integers(noise, 1, c)
    # Cluster by cluster: the normal numbers that torch draws depend on the size of the tensor.
    offsets = torch.cat([noise.normal(1, count, 2) for count in [k] * (c - 1) + [m]], dim=1)
    placed = nodes.mixture(centers, offsets)
    return placed, None if own is None else demand.by_cluster(own, offsets)


def _explosion(instance: _Instance) -> Sampled:
    noise = instance.noise
    start, center = noise.uniform(1, instance.size, 2), noise.uniform(1, 1, 2)
    moves = nodes.in_explosion(start, center)
    surplus = torch.zeros_like(start[..., :1])
    surplus[moves] = noise.exponential(int(moves.sum()), rate=nodes.EXPLOSION_RATE)
    placed = nodes.explode(start, center, surplus)
    if instance.deviation is None:
        return nodes.fill_square(placed), None
    return placed.clamp(0.0, 1.0), demand.gaussian(instance.deviation)


def _compression(instance: _Instance) -> Sampled:
    noise = instance.noise
    start = noise.uniform(1, instance.size, 2)
    p1, p2 = noise.uniform(1, 1, 2), noise.uniform(1, 1, 2)
    moves = nodes.in_strip(start, p1, p2)
    across = torch.zeros_like(start[..., :1])
    across[moves] = noise.normal(int(moves.sum())) * nodes.STRIP_DEVIATION
    placed = nodes.compress(start, p1, p2, across).clamp(0.0, 1.0)
    if instance.deviation is None:
        return placed, None
    return placed, demand.gaussian_complement(instance.deviation)


def _grid(instance: _Instance) -> Sampled:
    n = instance.size
    short = float(instance.number(*nodes.ASPECT))
    w, h = (nodes.LONG_SIDE, short) if instance.coin() else (short, nodes.LONG_SIDE)
    center = torch.stack([instance.number(s / 2, 1 - s / 2) for s in (w, h)], dim=2)
    columns = math.ceil(math.sqrt(n * (w / h)))
    rows = math.ceil(n / columns)
    # Not `nodes.grid`: arithmetic on a batch cannot reproduce the rounding of linspace.
    index = torch.arange(n)
    x = torch.linspace(-w / 2, w / 2, columns, dtype=torch.float32)[index % columns]
    y = torch.linspace(-h / 2, h / 2, rows, dtype=torch.float32)[index // columns]
    placed = (torch.stack((x, y), dim=1) + center).clamp(0.0, 1.0)
    if instance.depot is None:
        return placed, None
    return placed, demand.by_depot(placed, instance.depot, instance.noise.uniform(1, n))


def _ring(instance: _Instance) -> Sampled:
    noise, n = instance.noise, instance.size
    mean = instance.number(*nodes.RING_RADIUS)
    turn = noise.uniform(1, n)
    radius = mean + noise.normal(1, n) * nodes.RING_DEVIATION
    aspect = instance.number(*nodes.ASPECT)
    placed = nodes.ring(turn, radius, aspect, torch.tensor([[instance.coin()]]))
    if instance.depot is None:
        return placed, None
    jitter = noise.uniform(1, n)
    now = not instance.stored
    return placed, demand.by_depot(placed, instance.depot, jitter, nearest_most=now, rounded=now)


_DRAWS: dict[str, Callable[[_Instance], Sampled]] = {
    "GM": _gaussian_mixture,
    "E": _explosion,
    "C": _compression,
    "G": _grid,
    "R": _ring,
}
