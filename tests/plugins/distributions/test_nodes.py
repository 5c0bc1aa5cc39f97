"""The maps from random numbers to nodes: cases by hand, and degenerate ones."""

import pytest
import torch
from lifelong_co_plugins.distributions import nodes
from torch import Tensor


def points(*pairs: tuple[float, float]) -> Tensor:
    """Return one instance's coordinates ``[1, n, 2]``."""
    return torch.tensor([pairs])


def column(*values: float) -> Tensor:
    """Return one number for each node, ``[1, n, 1]``."""
    return torch.tensor(values)[None, :, None]


def close(got: Tensor, expected: Tensor) -> bool:
    """Return whether the two agree up to float32 rounding."""
    return torch.allclose(got, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("displace", "expected"),
    [(False, [(0.85, 0.5), (0.1, 0.5)]), (True, [(0.95, 0.5), (0.1, 0.5)])],
)
def test_explosion_by_hand(displace: bool, expected: list[tuple[float, float]]) -> None:
    """A node 0.1 right of the center is put at, or moved by, 0.35; one 0.4 away stays."""
    start = points((0.6, 0.5), (0.1, 0.5))
    got = nodes.explode(start, points((0.5, 0.5)), column(0.05, 0.05), displace=displace)
    assert close(got, points(*expected))


def test_explosion_keeps_a_node_on_the_center() -> None:
    """A node exactly on the center has no direction; there is no NaN."""
    center = points((0.25, 0.5))
    for displace in (False, True):
        assert torch.equal(nodes.explode(center, center, column(0.1), displace=displace), center)


@pytest.mark.parametrize(
    ("replace", "expected"), [(False, (0.3, 0.46)), (True, (0.3, 0.3))], ids=["official", "paper"]
)
def test_compression_by_hand(replace: bool, expected: tuple[float, float]) -> None:
    """A node 0.2 above a level line changes sides, or gets the drawn distance; others stay."""
    start = points((0.3, 0.7), (0.9, 0.85))
    got = nodes.compress(
        start, points((0.2, 0.5)), points((0.4, 0.5)), column(-0.2, -0.2), replace=replace
    )
    assert close(got, points(expected, (0.9, 0.85)))


def test_compression_uses_the_infinite_line() -> None:
    """A node beyond both points but near the line through them moves, too."""
    got = nodes.compress(points((1.0, 0.9)), points((0.0, 0.0)), points((0.1, 0.1)), column(0.0))
    assert close(got, points((0.95, 0.95)))


def test_compression_never_moves_farther_away() -> None:
    """A draw beyond ten standard deviations counts as 1: the mirror image."""
    got = nodes.compress(points((0.5, 0.6)), points((0.0, 0.5)), points((1.0, 0.5)), column(1.5))
    assert close(got, points((0.5, 0.4)))


def test_compression_with_equal_points_is_finite() -> None:
    """Two equal points make no line."""
    for replace in (False, True):
        start, p = points((0.1, 0.9), (0.5, 0.5)), points((0.5, 0.5))
        assert nodes.compress(start, p, p, column(0.1, 0.1), replace=replace).isfinite().all()


def test_fill_square_maps_each_axis_even_if_all_nodes_are_equal() -> None:
    """The extremes of each axis become 0 and 1; an axis without extent becomes 0."""
    assert close(
        nodes.fill_square(points((1, 5), (3, 7), (2, 5))), points((0, 0), (1, 1), (0.5, 0))
    )
    assert torch.equal(nodes.fill_square(points((3, 4), (3, 4))), torch.zeros(1, 2, 2))


def test_mixture_puts_centers_first_then_the_clusters_in_order() -> None:
    """With 11 nodes: five centers, one node around each of the first four, two around the last."""
    centers = points(*((10.0 * i, 0.0) for i in range(5)))
    offsets = torch.zeros(1, 6, 2)
    x = nodes.mixture(centers, offsets)[0, :, 0] * 40
    assert close(x, torch.tensor([0.0, 10, 20, 30, 40, 0, 10, 20, 30, 40, 40]))


def test_grid_by_hand() -> None:
    """Five nodes in two rows of three, in a rectangle of 1 by 0.5: the last cell stays empty."""
    width, height = torch.tensor([[1.0]]), torch.tensor([[0.5]])
    got = nodes.grid(5, width, height, torch.tensor([[3]]), points((0.5, 0.5)))
    assert close(got, points((0, 0.25), (0.5, 0.25), (1, 0.25), (0, 0.75), (0.5, 0.75)))


def test_grid_columns_by_hand() -> None:
    """The columns are ceil(sqrt(50 w / h)): 15.8 and 3.16, rounded up."""
    long, short = torch.tensor([[1.0]]), torch.tensor([[0.2]])
    assert int(nodes.columns_of(50, long, short)) == 16
    assert int(nodes.columns_of(50, short, long)) == 4


def test_single_row_lies_on_the_lower_border() -> None:
    """Two nodes in a row of two lie on the rectangle's lower border, without division by zero."""
    one = torch.ones(1, 1)
    got = nodes.grid(2, one, one * 0.5, torch.tensor([[2]]), points((0.5, 0.5)))
    assert close(got, points((0, 0.25), (1, 0.25)))


def test_ring_by_hand() -> None:
    """A quarter turn at radius 0.3, with y or x multiplied by a half; the origin is fixed."""
    turn, radius, half = torch.tensor([[0.25]]), torch.tensor([[0.3]]), torch.tensor([[0.5]])
    flat = torch.tensor([[True]])
    assert close(nodes.ring(turn, radius, half, flat), points((0.5, 0.4)))
    assert close(nodes.ring(turn, radius, half, ~flat), points((0.25, 0.8)))
