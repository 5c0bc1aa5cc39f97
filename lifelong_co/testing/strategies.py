"""Hypothesis strategies for the tests of third-party components; they need ``hypothesis``."""

from typing import Any

import attrs
import torch
from hypothesis import strategies as st

from lifelong_co import registry
from lifelong_co.problems.images import COORDINATES
from lifelong_co.protocols import Problem
from lifelong_co.tensors import records

DTYPES = (torch.float32, torch.float64)


@st.composite
def instances(
    draw: st.DrawFn,
    problem: Problem,
    distribution: str = "U",
    *,
    sizes: tuple[int, int] = (2, 9),
    batches: tuple[int, int] = (1, 4),
    dtypes: tuple[torch.dtype, ...] = DTYPES,
) -> Any:
    """Draw instances of any problem from a registered distribution.

    Coordinates can be rounded to a coarse grid, so that nodes coincide. A failing example shrinks
    to few nodes, few instances and the coarsest grid.

    Parameters
    ----------
    problem
        A problem that the distribution knows.
    distribution
        The registered name.
    sizes, batches
        The lowest and the highest ``n`` and ``B``.
    dtypes
        The floating-point types of the instances.
    """
    n, B = draw(st.integers(*sizes)), draw(st.integers(*batches))
    stream = torch.Generator().manual_seed(draw(st.integers(0, 2**32 - 1)))
    drawn = registry.distribution(distribution, problem).sample(B, n, generator=stream)
    cells = draw(st.sampled_from((1, 4, 100, None)))
    rounded = {
        name: (points * cells).round() / cells
        for name in COORDINATES
        if cells is not None and (points := getattr(drawn, name, None)) is not None
    }
    kind = draw(st.sampled_from(dtypes))
    return records.transform(
        attrs.evolve(drawn, **rounded),
        lambda tensor: tensor.to(kind) if tensor.is_floating_point() else tensor,
    )
