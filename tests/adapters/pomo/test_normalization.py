"""The normalisations of POMO and Omni, by their definitions."""

import pytest
import torch
from lifelong_co_adapters.pomo.normalization import NORMALIZATIONS, join
from torch import Tensor


def drawn() -> tuple[Tensor, Tensor]:
    """Return nodes and a change, double ``[B, A, width]``."""
    stream = torch.Generator().manual_seed(0)
    pair = torch.randn((2, 3, 5, 4), generator=stream, dtype=torch.float64)
    return pair[0], pair[1]


@pytest.mark.parametrize(
    ("name", "dims"), [("instance", (1,)), ("batch", (0, 1)), ("batch_no_track", (0, 1))]
)
def test_statistics_are_over_the_right_dimensions(name: str, dims: tuple[int, ...]) -> None:
    """Each channel has mean 0 and variance 1 over an instance's nodes, or over the whole batch."""
    nodes, change = drawn()
    found = join(NORMALIZATIONS[name](4).double(), nodes, change)
    added = nodes + change
    mean, variance = added.mean(dims, keepdim=True), added.var(dims, correction=0, keepdim=True)
    torch.testing.assert_close(found, (added - mean) / (variance + 1e-5).sqrt())


@pytest.mark.parametrize(("name", "factor"), [("rezero", 0.0), ("none", 1.0)])
def test_no_statistics_without_a_normalisation(name: str, factor: float) -> None:
    """ReZero leaves the nodes alone at first; without a normalisation the change is added."""
    nodes, change = drawn()
    found = join(NORMALIZATIONS[name](4).double(), nodes, change)
    assert torch.equal(found, nodes + factor * change)
