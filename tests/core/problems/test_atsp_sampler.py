"""Matrices of distances as in MatNet's generator."""

from typing import Any

import pytest
import torch

import lifelong_co as lco
from lifelong_co.errors import ConfigError
from lifelong_co.problems.atsp_sampler import STEPS, closure, matrices


def official(whole: torch.Tensor) -> torch.Tensor:
    """Return the closure as MatNet computes it: shorter ways through one node, until none is."""
    while True:
        shorter = (whole[:, :, :, None] + whole[:, None]).amin(dim=2)
        if torch.equal(shorter, whole):
            return whole
        whole = shorter


def test_closure_is_that_of_the_official_generator() -> None:
    """Shortest paths are the fixed point of shorter ways through one node."""
    whole = torch.randint(STEPS, (5, 12, 12), generator=torch.Generator().manual_seed(0))
    whole = whole.masked_fill(torch.eye(12, dtype=torch.bool), 0)
    assert torch.equal(closure(whole), official(whole))


def test_matrices_are_asymmetric_and_obey_the_triangle_inequality() -> None:
    """Distances are in [0, 1), 0 on the diagonal; no way through a third node is shorter."""
    found = matrices(5, 12, generator=torch.Generator().manual_seed(0))
    assert found.dtype == torch.float32
    assert 0 <= float(found.min()) <= float(found.max()) < 1
    assert not bool(found.diagonal(dim1=1, dim2=2).any())
    assert not torch.equal(found, found.transpose(1, 2))
    through = (found[:, :, :, None] + found[:, None]).amin(dim=2)
    assert bool((through >= found - 1e-6).all())


def test_equal_seeds_draw_equal_matrices() -> None:
    """The matrices depend only on the generator."""
    first, second = (matrices(2, 5, generator=torch.Generator().manual_seed(3)) for _ in range(2))
    assert torch.equal(first, second)


def test_distribution_draws_instances_of_the_atsp() -> None:
    """They are those of `matrices`, by a registered name."""
    found = lco.distribution("tmat", problem="atsp").sample(
        2, 5, generator=torch.Generator().manual_seed(3)
    )
    assert torch.equal(found.matrix, matrices(2, 5, generator=torch.Generator().manual_seed(3)))


@pytest.mark.parametrize(
    ("problem", "options", "message"),
    [
        ("tsp", {}, "expected a problem whose instances have a matrix, got 'tsp'"),
        ("atsp", {"capacity": 30}, "capacity: expected None, got 30"),
        ("atsp", {"variant": "paper"}, "variant: expected official, got 'paper'"),
    ],
)
def test_what_does_not_apply_is_refused(
    problem: str, options: dict[str, Any], message: str
) -> None:
    """The distribution is for problems with a matrix, and has no options."""
    with pytest.raises(ConfigError, match=message):
        lco.distribution("tmat", problem=problem, **options)
