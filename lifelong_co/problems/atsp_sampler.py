"""Random instances of the asymmetric TSP, as in MatNet's generator (arXiv 2106.11113, appendix).

Each distance is uniform over the whole numbers from 0 to 999,999. A longer direct way is replaced
by the shortest path, so that the triangle inequality holds. Then all are divided by 1,000,000.
"""

from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.errors import ConfigError
from lifelong_co.protocols import Problem

NAME = "tmat"
"""The name of the distribution, as in MatNet's code."""
STEPS = 1_000_000
"""Whole numbers in one unit of length."""


@attrs.frozen
class MatrixDistribution:
    """The distribution of `matrices`, for a problem whose instances have a ``matrix``."""

    problem: Problem

    def sample(self, batch: int, size: int, *, generator: torch.Generator | None = None) -> Any:
        """Return ``B = batch`` instances of ``n = size`` on the generator's device."""
        return self.problem.instances(matrix=matrices(batch, size, generator=generator))


def matrix_distribution(
    problem: Problem, *, variant: str = "official", capacity: int | None = None
) -> MatrixDistribution:
    """Build the distribution.

    Raises
    ------
    ConfigError
        If the instances of the problem have no ``matrix``, or an option does not apply.
    """
    if "matrix" not in attrs.fields_dict(problem.instances_type):
        raise ConfigError(
            f"distribution {NAME}: expected a problem whose instances have a matrix, got"
            f" {problem.name!r}"
        )
    for option, value, default in (("variant", variant, "official"), ("capacity", capacity, None)):
        if value != default:
            raise ConfigError(f"distribution {NAME}: {option}: expected {default}, got {value!r}")
    return MatrixDistribution(problem)


def matrices(batch: int, size: int, *, generator: torch.Generator | None = None) -> Tensor:
    """Draw matrices of distances.

    Parameters
    ----------
    batch, size
        ``B`` and ``n``.
    generator
        The random stream.

    Returns
    -------
    Float32 ``[B, n, n]`` in ``[0, 1)``, on the generator's device.
    """
    device = "cpu" if generator is None else generator.device
    whole = torch.randint(STEPS, (batch, size, size), generator=generator, device=device)
    itself = torch.eye(size, dtype=torch.bool, device=device)
    return closure(whole.masked_fill(itself, 0)).float() / STEPS


def closure(distances: Tensor) -> Tensor:
    """Return the lengths of shortest paths ``[B, n, n]`` (Floyd and Warshall).

    Parameters
    ----------
    distances
        ``[B, n, n]``, at least 0, with zeros on the diagonal.
    """
    for k in range(distances.shape[1]):
        through = distances[:, :, k, None] + distances[:, None, k]
        distances = torch.minimum(distances, through)
    return distances
