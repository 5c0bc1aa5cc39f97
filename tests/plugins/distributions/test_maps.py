"""The maps from random numbers to nodes and demands: cases by hand, and degenerate ones."""

import pytest
import torch
from lifelong_co_plugins.distributions import demand, nodes
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


def test_gaussian_demands_by_hand() -> None:
    """Rounded and clamped to [1, 10] or, in the paper, [0, 10]; C takes 10 minus it."""
    deviation = torch.tensor([[-6.0, -0.6, 0.4, 9.0]])
    assert demand.gaussian(deviation).tolist() == [[1, 4, 5, 10]]
    assert demand.gaussian(deviation, least=0).tolist() == [[0, 4, 5, 10]]
    assert demand.gaussian_complement(deviation).tolist() == [[9, 6, 5, 0]]
    assert demand.gaussian_complement(deviation, least=0).tolist() == [[10, 6, 5, 0]]


def test_demand_by_depot_by_hand() -> None:
    """Noisy distances 0, 0.5 and 1 give 1, 5.5 rounded to even, and 10; or the reverse."""
    placed, depot = points((0, 0), (0.25, 0), (1, 0)), points((0, 0))
    noise = torch.tensor([[0.0, 0.25, 0.0]])
    assert demand.by_depot(placed, depot, noise).tolist() == [[1, 6, 10]]
    assert demand.by_depot(placed, depot, noise, nearest_most=True).tolist() == [[10, 6, 1]]


def test_demand_by_depot_of_equal_distances_is_equal() -> None:
    """There is no NaN."""
    placed, noise = torch.full((1, 3, 2), 0.5), torch.zeros(1, 3)
    assert demand.by_depot(placed, placed[:, :1], noise).tolist() == [[1, 1, 1]]


def test_demand_by_cluster_by_hand() -> None:
    """Each cluster has a separate range, values are truncated, and centers keep their demand."""
    centers = torch.tensor([[7.0, 2, 3, 4, 5]])
    # 16 nodes: two around each of the first four centers, three around the last.
    distance = [1.0, 2, 5, 3, 0, 1, 4, 4, 0, 1, 0.5]
    offsets = torch.tensor([[(d, 0.0) for d in distance]])
    expected = [7, 2, 3, 4, 5, 1, 10, 10, 1, 1, 10, 1, 1, 1, 10, 5]
    assert demand.by_cluster(centers, offsets).tolist() == [expected]


def test_demand_of_a_node_alone_in_its_cluster_is_one() -> None:
    """Without other nodes, only the centers have demands."""
    assert demand.by_cluster(torch.full((1, 5), 9.0), torch.ones(1, 1, 2))[0, 5] == 1
    assert demand.by_cluster(torch.full((1, 5), 9.0), torch.ones(1, 0, 2)).tolist() == [[9] * 5]


def test_demand_by_center_by_hand() -> None:
    """One range over the whole instance: the nearest node has demand 0, the farthest 10."""
    centers = torch.tensor([[7.0, 2, 3, 4, 5]])
    hubs = [(0.0, 0.0)] * 5
    placed = points(*hubs, (0.1, 0), (0.2, 0), (0.3, 0), (0.35, 0), (1.0, 0))
    expected = [7, 2, 3, 4, 5, 0, 1, 2, 3, 10]
    assert demand.by_center(centers, placed).tolist() == [expected]


@pytest.mark.parametrize(("size", "capacity"), [(20, 30), (50, 40), (100, 50), (21, 100)])
def test_official_capacity_rule(size: int, capacity: int) -> None:
    """Capacity 30, 40 and 50 at the paper's sizes, 100 at others; a given one takes precedence."""
    assert demand.capacity_of(size) == capacity
    assert demand.capacity_of(size, 12) == 12
