"""The maps from distances and random numbers to demands: cases by hand, and degenerate ones."""

import pytest
import torch
from lifelong_co_plugins.distributions import demand
from torch import Tensor


def points(*pairs: tuple[float, float]) -> Tensor:
    """Return one instance's coordinates ``[1, n, 2]``."""
    return torch.tensor([pairs])


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
