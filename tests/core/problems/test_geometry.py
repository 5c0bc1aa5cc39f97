"""The geometry of the plane: lengths of closed walks and the eight symmetries."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import PROBLEMS, Walk, identical, walks

from lifelong_co.tensors import records

both = pytest.mark.parametrize("name", sorted(PROBLEMS))


def naive_length(points: np.ndarray, actions: list[int]) -> float:
    """Return the length of the closed walk over ``points [A, 2]``, leg by leg."""
    total = 0.0
    for here, there in zip(actions, actions[1:] + actions[:1], strict=True):
        total += math.dist(points[here], points[there])
    return total


def all_points(walk: Walk) -> np.ndarray:
    """Return the coordinates of all actions, float64 ``[B, A, 2]``."""
    fields = records.tensors(walk.instances)
    parts = [fields["nodes"]] if "depot" not in fields else [fields["depot"], fields["nodes"]]
    return torch.cat(parts, dim=1).double().numpy()


@both
@given(data=st.data())
def test_cost_is_the_length_of_the_closed_walk(name: str, data: st.DataObject) -> None:
    """The cost equals a sum of distances in plain Python, leg by leg."""
    walk = data.draw(walks(name))
    cost = walk.problem.cost(walk.instances, walk.actions)
    assert cost.dtype == walk.instances.nodes.dtype
    points = all_points(walk)
    expected = [
        [naive_length(points[b], actions) for actions in walk.actions[b].tolist()]
        for b in range(len(points))
    ]
    np.testing.assert_allclose(cost.double().numpy(), expected, rtol=1e-5, atol=1e-6)


@both
@given(data=st.data())
def test_cost_is_invariant_under_the_eight_symmetries(name: str, data: st.DataObject) -> None:
    """A solution has the same cost on all images; row k * B + b is an image of instance b."""
    walk = data.draw(walks(name))
    images = walk.problem.augment(walk.instances)
    assert records.rows(images) == 8 * records.rows(walk.instances)
    cost = walk.problem.cost(walk.instances, walk.actions)
    again = walk.problem.cost(images, walk.actions.repeat(8, 1, 1))
    torch.testing.assert_close(again, cost.repeat(8, 1), rtol=1e-5, atol=1e-5)
    assert identical(records.select(images, slice(0, records.rows(walk.instances))), walk.instances)


@both
def test_the_eight_images_differ(name: str) -> None:
    """An instance without symmetry has eight different images."""
    fields = {"nodes": torch.tensor([[[0.1, 0.2], [0.3, 0.9], [0.8, 0.35]]])}
    if name == "cvrp":
        fields |= {"depot": torch.tensor([[[0.6, 0.15]]]), "demand": torch.full((1, 3), 0.5)}
    images = PROBLEMS[name].augment(PROBLEMS[name].instances(**fields))
    assert len({tuple(points.flatten().tolist()) for points in images.nodes}) == 8
