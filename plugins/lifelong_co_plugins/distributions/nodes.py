"""Coordinates of the nodes: maps from random numbers to the unit square, for a batch.

Nothing here draws random numbers. The fast samplers and the draws in the official order use the
same maps (except `grid`). So the bit-for-bit test of the test sets checks the arithmetic of both.

Source: paper, appendix "Task Settings"; official code ``CVRP/CVRProblemDef.py`` and
``TSP/TSProblemDef.py``. `distribution` lists where the two differ.
"""

import math

import torch
from torch import Tensor

REACH = 0.3  # E: radius of the explosion; C: half the width of the compressed strip
EXPLOSION_RATE = 40.0  # E: rate of the exponential length added to the radius
STRIP_DEVIATION = 0.1  # C: standard deviation of the new place across the line
CENTERS = 5  # GM
CENTER_SPREAD = 50.0  # GM: centers are uniform in a square this wide, nodes N(center, 1)
ASPECT = (0.2, 0.8)  # G and R: shorter side over longer side
LONG_SIDE = 1.0 - 1e-5  # G: the longer side in the official code; 1 in the paper
RING_RADIUS = (0.3, 0.4)
RING_DEVIATION = 0.05
NOTHING = 1e-30  # smaller than every distance above 0; as a divisor it replaces the distance 0


def fill_square(nodes: Tensor) -> Tensor:
    """Map each instance of ``[B, n, 2]`` to the unit square by min-max, each axis separately.

    An axis on which all nodes are equal becomes 0.
    """
    least, most = torch.aminmax(nodes, dim=1, keepdim=True)
    return (nodes - least) / (most - least).clamp(min=NOTHING)


def in_explosion(nodes: Tensor, center: Tensor) -> Tensor:
    """Return bool ``[B, n, 1]``: the nodes within `REACH` of the center ``[B, 1, 2]``."""
    distance: Tensor = torch.linalg.vector_norm(nodes - center, dim=2, keepdim=True)
    return distance <= REACH


def explode(nodes: Tensor, center: Tensor, surplus: Tensor, *, displace: bool = False) -> Tensor:
    """Move the nodes around a center away from it (E); nodes may leave the unit square.

    Parameters
    ----------
    nodes, center
        ``[B, n, 2]`` and ``[B, 1, 2]``.
    surplus
        ``[B, n, 1]``, the ``s`` of the length ``0.3 + s``; at least 0.
    displace
        False: a node is put at distance ``0.3 + s`` from the center (official code). True: it moves
        by ``0.3 + s`` from its place (the paper's "moving length").

    Returns
    -------
    ``[B, n, 2]``. A node exactly on the center has no direction, so it stays.
    """
    arrow = nodes - center
    distance = torch.linalg.vector_norm(arrow, dim=2, keepdim=True)
    direction = arrow / distance.clamp(min=NOTHING)
    origin = nodes if displace else center
    return torch.where(distance <= REACH, origin + (REACH + surplus) * direction, nodes)


def in_strip(nodes: Tensor, p1: Tensor, p2: Tensor) -> Tensor:
    """Return bool ``[B, n, 1]``: the nodes less than `REACH` from the infinite line ``p1 p2``.

    If the two points ``[B, 1, 2]`` are equal, every node counts as on the line.
    """
    along, length = _line(p1, p2)
    offset = nodes - p1
    cross = along[..., :1] * offset[..., 1:] - along[..., 1:] * offset[..., :1]
    return cross.abs() / length < REACH


def compress(
    nodes: Tensor, p1: Tensor, p2: Tensor, across: Tensor, *, replace: bool = False
) -> Tensor:
    """Move the nodes near a line closer to it (C); nodes may leave the unit square.

    Parameters
    ----------
    nodes, p1, p2
        ``[B, n, 2]``, and two points ``[B, 1, 2]`` of the line.
    across
        ``[B, n, 1]``, draws of N(0, 0.1²).
    replace
        False: the distance to the line is multiplied by ``|across|``, but at most by 1, and the
        node changes sides (official code). True: ``across`` is the new signed distance (paper).

    Returns
    -------
    ``[B, n, 2]``.
    """
    along, length = _line(p1, p2)
    direction = along / length
    foot = p1 + ((nodes - p1) * direction).sum(dim=2, keepdim=True) * direction
    if replace:
        normal = torch.stack((-direction[..., 1], direction[..., 0]), dim=2)
        moved = foot + across * normal
    else:
        moved = foot - (nodes - foot) * across.abs().clamp(max=1.0)
    return torch.where(in_strip(nodes, p1, p2), moved, nodes)


def _line(p1: Tensor, p2: Tensor) -> tuple[Tensor, Tensor]:
    """Return the vector ``[B, 1, 2]`` from p1 to p2, and its length ``[B, 1, 1]`` or 1 for 0."""
    along = p2 - p1
    length = torch.linalg.vector_norm(along, dim=2, keepdim=True)
    return along, torch.where(length == 0, 1.0, length)


def cluster_sizes(size: int) -> tuple[int, int, int]:
    """Return how ``n = size`` nodes are divided into clusters (GM): ``(c, k, m)``.

    The first ``c`` nodes are the centers. Then ``k`` nodes follow for each center except the last,
    and ``m`` nodes for the last one. The official rule is ``c = 5``, ``k = n // 5 - 1``, and all
    other nodes for the last center. It fails below 15 nodes. So here ``k`` is at least 0 (n < 10:
    five centers and one cluster around the last), and ``c`` is at most ``n`` (n < 5).
    """
    c = min(CENTERS, size)
    k = max(size // CENTERS - 1, 0)
    return c, k, size - c - (c - 1) * k


def owners(centers: Tensor, size: int) -> Tensor:
    """Return the center of every other node, ``[B, n - c, 2]``, from the centers ``[B, c, 2]``."""
    _, k, m = cluster_sizes(size)
    last = centers[:, -1:].expand(-1, m, -1)
    return torch.cat((centers[:, :-1].repeat_interleave(k, dim=1), last), dim=1)


def mixture(centers: Tensor, offsets: Tensor) -> Tensor:
    """Return the centers and the nodes around them, scaled to the unit square (GM), ``[B, n, 2]``.

    Parameters
    ----------
    centers
        ``[B, c, 2]``.
    offsets
        ``[B, n - c, 2]``, from each node's center to the node; see `cluster_sizes`.
    """
    around = owners(centers, centers.shape[1] + offsets.shape[1]) + offsets
    return fill_square(torch.cat((centers, around), dim=1))


def grid(size: int, width: Tensor, height: Tensor, columns: Tensor, center: Tensor) -> Tensor:
    """Return the first ``n = size`` points of a grid, row by row from the lower left (G).

    Parameters
    ----------
    size
        ``n``.
    width, height
        ``[B, 1]``, sides of the rectangle; points lie on its border, too.
    columns
        Long ``[B, 1]``, points in each row, at least 1. The number of rows follows from ``n``.
    center
        ``[B, 1, 2]``, of the rectangle.

    Returns
    -------
    ``[B, n, 2]`` in the unit square. A single row lies on the lower border, a single column on the
    left border.
    """
    rows = (size + columns - 1) // columns
    index = torch.arange(size, device=width.device)[None]
    x = _ladder(index % columns, columns, width)
    y = _ladder(index // columns, rows, height)
    return (torch.stack((x, y), dim=2) + center).clamp(0.0, 1.0)


def columns_of(size: int, width: Tensor, height: Tensor) -> Tensor:
    """Return the points in each row of a grid: ``ceil(sqrt(n w / h))``, long ``[B, 1]``."""
    return (size * (width / height)).sqrt().ceil().long()


def _ladder(step: Tensor, count: Tensor, extent: Tensor) -> Tensor:
    """Return point ``step`` ``[B, n]`` of ``count`` even ones, ``-extent / 2`` to ``extent / 2``.

    The official code uses torch.linspace, which works on one instance at a time.
    """
    gaps = (count - 1).clamp(min=1)
    return extent * (step.to(extent.dtype) / gaps - 0.5)


def ring(turn: Tensor, radius: Tensor, aspect: Tensor, flat: Tensor) -> Tensor:
    """Return a ring around (0.5, 0.5), then one coordinate times a factor (R), ``[B, n, 2]``.

    Parameters
    ----------
    turn, radius
        ``[B, n]``: the angle in turns, and the distance to (0.5, 0.5).
    aspect
        ``[B, 1]``, the factor. It moves the middle of the ring, too.
    flat
        Bool ``[B, 1]``. True: multiply y. False: multiply x.
    """
    angle = turn * (2 * math.pi)
    x = 0.5 + radius * torch.cos(angle)
    y = 0.5 + radius * torch.sin(angle)
    squeezed = (torch.where(flat, x, x * aspect), torch.where(flat, y * aspect, y))
    return torch.stack(squeezed, dim=2).clamp(0.0, 1.0)
