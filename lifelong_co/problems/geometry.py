"""Geometry of the plane for all problems: lengths of closed routes and the eight symmetries."""

import torch
from torch import Tensor

from lifelong_co.problems.batch_checks import require_actions
from lifelong_co.problems.distances import lengths


def closed_length(points: Tensor, actions: Tensor, p: Tensor | None = None) -> Tensor:
    """Return the length ``[B, S]`` of closed routes: the sum of `closed_legs`."""
    return closed_legs(points, actions, p).sum(dim=2)


def closed_legs(points: Tensor, actions: Tensor, p: Tensor | None = None) -> Tensor:
    """Return the lengths of the legs of closed routes, from each visit to the next.

    Parameters
    ----------
    points
        ``[B, A, 2]`` coordinates of all actions.
    actions
        Long ``[B, S, T]``, the order of visits.
    p
        ``[B]``, the exponent of each instance's distance; None: Euclidean. See
        `distances.lengths`.

    Returns
    -------
    ``[B, S, T]`` in the unit of ``points``. The last leg is the way back to the first visit.

    Raises
    ------
    InvalidInstancesError
        As `require_actions`.
    """
    require_actions(actions, len(points))
    B, S, T = actions.shape
    flat = actions.reshape(B, S * T, 1).expand(-1, -1, 2)
    ordered = points.gather(1, flat).reshape(B, S, T, 2)
    legs = ordered - ordered.roll(-1, dims=2)  # [B, S, T, 2]
    return lengths(legs, p)


def all_true(mask: Tensor) -> Tensor:
    """Return ``mask.all(dim=-1)``, by bytes: the CPU reduces them four times as fast."""
    return mask.view(torch.uint8).amin(dim=-1).bool()


def symmetries(points: Tensor) -> Tensor:
    """Return the images under the eight symmetries of the unit square, ``[B, n, 2] -> [8B, n, 2]``.

    Image ``k`` of instance ``b`` is row ``k * B + b``; image 0 is the original. The order is the
    one of POMO's instance augmentation (Kwon et al. 2020, table 1).
    """
    x, y = points[..., 0], points[..., 1]
    images = [(x, y), (1 - x, y), (x, 1 - y), (1 - x, 1 - y)]
    images += [(y, x), (1 - y, x), (y, 1 - x), (1 - y, 1 - x)]
    return torch.cat([torch.stack(image, dim=-1) for image in images])
