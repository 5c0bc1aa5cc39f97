"""Nearest neighbors in place of torch_cluster."""

import torch
from lifelong_co_adapters.official.neighbors import knn
from upstreams import official

pytestmark = official


def test_knn_gives_the_nearest_of_the_same_instance() -> None:
    """Nearest first, at equal distance the lower index; fewer pairs if there are fewer points."""
    x = torch.tensor([[5.0, 0], [1, 0], [-1, 0], [0, 0], [9, 0]])
    y = torch.tensor([[0.0, 0], [8, 0]])
    batch_x, batch_y = torch.tensor([0, 0, 0, 1, 0]), torch.tensor([0, 1])
    pairs = knn(x, y, 3, batch_x, batch_y)
    assert pairs.tolist() == [[0, 0, 0, 1], [1, 2, 0, 3]]
