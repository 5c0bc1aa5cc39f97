"""The eight images of an instance, on which a run may train and test.

``square``: the images under the symmetries of the unit square (`Problem.augment`), as in POMO's
code. ``random``: the instance, three random rotations and four random reflections, as in INViT's
code (``run_aug`` with ``mix``, of eight images). Both keep Euclidean lengths.

INViT's code also scales each image to the unit square, and takes costs from the instance. Its
network scales every view, so this changes nothing but rounding. Here an image keeps its scale, so
its cost is the instance's; its coordinates can leave the unit square.
"""

import math
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.errors import ConfigError
from lifelong_co.protocols import Problem

SQUARE, RANDOM = "square", "random"
SYMMETRIES = (SQUARE, RANDOM)
IMAGES = 8
"""Images of one instance, the instance included."""
COORDINATES = ("depot", "nodes")
"""Fields of instances that hold points of the plane, ``[B, *, 2]``."""


def random_angles(instances: int, generator: torch.Generator) -> Tensor:
    """Return one angle for each image except the first, ``[7, B]``, uniform in ``[0, 2 pi)``."""
    shape = IMAGES - 1, instances
    return 2 * math.pi * torch.rand(shape, generator=generator, device=generator.device)


def images(problem: Problem, instances: Any, angles: Tensor | None = None) -> Any:
    """Return ``8 B`` instances: row ``k * B + b`` is the ``k``-th image of instance ``b``.

    Parameters
    ----------
    problem
        The problem of the instances.
    instances
        ``B`` instances.
    angles
        ``[7, B]`` in radians: how far image 1 to 7 of each instance turns about the centre of the
        unit square, after its symmetry. None: not at all.

    Raises
    ------
    ConfigError
        If there are angles and the instances' distance is not Euclidean, so that it would change.
    """
    eight = problem.augment(instances)
    if angles is None:
        return eight
    if getattr(eight, "distance", None) is not None:
        raise ConfigError(
            f"symmetries: expected {SQUARE!r} for a distance that is not Euclidean, got {RANDOM!r}"
        )
    # A symmetry of the square and a random rotation make a random rotation or reflection.
    moved = {
        name: torch.cat((points[: angles.shape[1]], turned(points[angles.shape[1] :], angles)))
        for name in COORDINATES
        if (points := getattr(eight, name, None)) is not None
    }
    return attrs.evolve(eight, **moved)


def turned(points: Tensor, angles: Tensor) -> Tensor:
    """Return points ``[N, *, 2]`` turned by ``N`` angles about the centre of the unit square."""
    angle = angles.to(points).reshape(-1, 1)
    x, y = (points - 0.5).unbind(-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.stack((x * cos - y * sin, x * sin + y * cos), dim=-1) + 0.5
