"""Where the nodes go: batched maps from random numbers to coordinates in the unit square.

Nothing here draws. The fast samplers and the draws in the official order feed the same maps (but
for `grid`), so that the bit-for-bit test of the test sets holds for the arithmetic of both.

Source: paper, appendix "Task Settings"; official code ``CVRP/CVRProblemDef.py`` and
``TSP/TSProblemDef.py``. Constants that the two share stand below, differences in `distribution`.
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
NOTHING = 1e-30  # below any distance but 0, which it divides


def fill_square(nodes: Tensor) -> Tensor:
    """Map each instance of ``[B, n, 2]`` to the unit square by min-max, each axis on its own.

    An axis on which all nodes agree becomes 0.
    """
    least, most = torch.aminmax(nodes, dim=1, keepdim=True)
    return (nodes - least) / (most - least).clamp(min=NOTHING)


def in_explosion(nodes: Tensor, center: Tensor) -> Tensor:
    """Return bool ``[B, n, 1]``: the nodes within `REACH` of the center ``[B, 1, 2]``."""
    distance: Tensor = torch.linalg.vector_norm(nodes - center, dim=2, keepdim=True)
    return distance <= REACH


def explode(nodes: Tensor, center: Tensor, surplus: Tensor, *, displace: bool = False) -> Tensor:
    """Blow the nodes around a center away from it (E); may leave the unit square.

    Parameters
    ----------
    nodes, center
        ``[B, n, 2]`` and ``[B, 1, 2]``.
    surplus
        ``[B, n, 1]``, the ``s`` of the length ``0.3 + s``; at least 0.
    displace
        False: a node comes to lie at distance ``0.3 + s`` of the center (official code).
        True: it moves that far from where it was (the paper's "moving length").

    Returns
    -------
    ``[B, n, 2]``. A node exactly on the center has no direction to go and stays.
    """
    arrow = nodes - center
    distance = torch.linalg.vector_norm(arrow, dim=2, keepdim=True)
    direction = arrow / distance.clamp(min=NOTHING)
    origin = nodes if displace else center
    return torch.where(distance <= REACH, origin + (REACH + surplus) * direction, nodes)


def in_strip(nodes: Tensor, p1: Tensor, p2: Tensor) -> Tensor:
    """Return bool ``[B, n, 1]``: the nodes less than `REACH` from the infinite line ``p1 p2``.

    Where the two points ``[B, 1, 2]`` coincide every node counts as on the line.
    """
    along, length = _line(p1, p2)
    offset = nodes - p1
    cross = along[..., :1] * offset[..., 1:] - along[..., 1:] * offset[..., :1]
    return cross.abs() / length < REACH


def compress(
    nodes: Tensor, p1: Tensor, p2: Tensor, across: Tensor, *, replace: bool = False
) -> Tensor:
    """Pull the nodes near a line closer to it (C); may leave the unit square.

    Parameters
    ----------
    nodes, p1, p2
        ``[B, n, 2]``, and two points ``[B, 1, 2]`` of the line.
    across
        ``[B, n, 1]``, draws of N(0, 0.1²).
    replace
        False: the distance to the line is multiplied by ``|across|``, at most 1, and the node
        changes sides (official code). True: ``across`` is the new signed distance (paper).

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
    """Return the vector ``[B, 1, 2]`` from p1 to p2 and its length ``[B, 1, 1]``, never 0."""
    along = p2 - p1
    length = torch.linalg.vector_norm(along, dim=2, keepdim=True)
    return along, torch.where(length == 0, 1.0, length)


def cluster_sizes(size: int) -> tuple[int, int, int]:
    """Return how ``n = size`` nodes fall into clusters (GM): ``(c, k, m)``.

    The first ``c`` nodes are the centers themselves; ``k`` more belong to each center but the
    last, ``m`` more to the last, in this order. The official rule is ``c = 5``, ``k = n // 5 - 1``
    and the rest to the last; it fails below 15 nodes, where we take ``k`` no lower than 0 (so five
    centers and a cluster around the last for n < 10) and no more centers than nodes (n < 5).
    """
    c = min(CENTERS, size)
    k = max(size // CENTERS - 1, 0)
    return c, k, size - c - (c - 1) * k


def owners(centers: Tensor, size: int) -> Tensor:
    """Return for every node but the centers ``[B, c, 2]`` its center, ``[B, n - c, 2]``."""
    _, k, m = cluster_sizes(size)
    last = centers[:, -1:].expand(-1, m, -1)
    return torch.cat((centers[:, :-1].repeat_interleave(k, dim=1), last), dim=1)


def mixture(centers: Tensor, offsets: Tensor) -> Tensor:
    """Return centers and the nodes around them, filling the unit square (GM), ``[B, n, 2]``.

    Parameters
    ----------
    centers, offsets
        ``[B, c, 2]``, and ``[B, n - c, 2]`` from each node's center; see `cluster_sizes`.
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
        ``[B, 1]``, sides of the rectangle; its border carries points.
    columns
        Long ``[B, 1]``, points of a row, at least 1; rows as many as ``n`` points need.
    center
        ``[B, 1, 2]``, of the rectangle.

    Returns
    -------
    ``[B, n, 2]`` in the unit square. A single row (column) lies on the lower (left) border.
    """
    rows = (size + columns - 1) // columns
    index = torch.arange(size, device=width.device)[None]
    x = _ladder(index % columns, columns, width)
    y = _ladder(index // columns, rows, height)
    return (torch.stack((x, y), dim=2) + center).clamp(0.0, 1.0)


def columns_of(size: int, width: Tensor, height: Tensor) -> Tensor:
    """Return the points of a grid's row, ``ceil(sqrt(n w / h))``, long, in the shape given."""
    return (size * (width / height)).sqrt().ceil().long()


def _ladder(step: Tensor, count: Tensor, extent: Tensor) -> Tensor:
    """Return rung ``step`` ``[B, n]`` of ``count`` from ``-extent / 2`` to ``extent / 2``.

    The official code has torch.linspace here, which makes one instance's rungs at a time.
    """
    gaps = (count - 1).clamp(min=1)
    return extent * (step.to(extent.dtype) / gaps - 0.5)


def ring(turn: Tensor, radius: Tensor, aspect: Tensor, flat: Tensor) -> Tensor:
    """Return points around (0.5, 0.5), then squeezed toward one axis (R), ``[B, n, 2]``.

    Parameters
    ----------
    turn, radius
        ``[B, n]``: angle in turns, and distance to the middle.
    aspect
        ``[B, 1]``, the factor of the squeezed coordinate; the origin stays, not the middle.
    flat
        Bool ``[B, 1]``: squeeze y, otherwise x.
    """
    angle = turn * (2 * math.pi)
    x = 0.5 + radius * torch.cos(angle)
    y = 0.5 + radius * torch.sin(angle)
    squeezed = (torch.where(flat, x, x * aspect), torch.where(flat, y * aspect, y))
    return torch.stack(squeezed, dim=2).clamp(0.0, 1.0)
