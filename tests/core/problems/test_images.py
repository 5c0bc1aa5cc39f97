"""The eight images of an instance: those of the square, and random ones."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import PROBLEMS, identical, walks
from torch import Tensor

import lifelong_co as lco
from lifelong_co.problems.images import IMAGES, images, random_angles, turned
from lifelong_co.tensors import records

both = pytest.mark.parametrize("name", sorted(PROBLEMS))


def angles(instances: Any, seed: int = 0) -> Tensor:
    """Return random angles for all instances."""
    return random_angles(records.rows(instances), torch.Generator().manual_seed(seed))


def orientation(points: Tensor) -> Tensor:
    """Return the signed area ``[B]`` of the first three points: its sign says if it is mirrored."""
    first, second = points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]
    return first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]


@both
@given(data=st.data())
def test_costs_are_the_same_on_random_images(name: str, data: st.DataObject) -> None:
    """A solution costs the same on all images; the first image is the instance, to the bit."""
    walk = data.draw(walks(name))
    made = images(walk.problem, walk.instances, angles(walk.instances))
    cost = walk.problem.cost(walk.instances, walk.actions)
    again = walk.problem.cost(made, walk.actions.repeat(IMAGES, 1, 1))
    torch.testing.assert_close(again, cost.repeat(IMAGES, 1), rtol=1e-5, atol=1e-5)
    assert identical(records.select(made, slice(records.rows(walk.instances))), walk.instances)


@both
def test_without_angles_images_are_those_of_the_square(name: str) -> None:
    """They are the problem's own augmentation."""
    problem = lco.problem(name)
    instances = lco.distribution("U", name).sample(3, 5)
    assert identical(images(problem, instances), problem.augment(instances))


@both
def test_random_images_are_three_rotations_and_four_reflections(name: str) -> None:
    """All differ, other fields are repeated, and another seed gives other images."""
    problem = lco.problem(name)
    instances = lco.distribution("U", name).sample(5, 6, generator=torch.Generator().manual_seed(0))
    made = images(problem, instances, angles(instances))
    assert made.nodes.shape == (40, 6, 2)
    mirrored = (orientation(made.nodes) * orientation(instances.nodes).repeat(IMAGES) < 0).view(
        IMAGES, 5
    )
    assert mirrored.sum(dim=0).tolist() == [4] * 5
    assert not mirrored[0].any()
    first_node = made.nodes.view(IMAGES, 5, 6, 2)[:, :, 0]
    assert len({tuple(node) for node in first_node.flatten(0, 1).tolist()}) == 40
    if name == "cvrp":
        assert torch.equal(made.demand, instances.demand.repeat(IMAGES, 1))
    other = images(problem, instances, angles(instances, seed=1))
    assert not torch.equal(other.nodes[5:], made.nodes[5:])


def test_points_turn_about_the_centre_of_the_square() -> None:
    """A quarter turn moves the middle of the right side to the middle of the upper side."""
    points = torch.tensor([[[1.0, 0.5], [0.5, 0.5]]])
    moved = turned(points, torch.tensor([math.pi / 2]))
    torch.testing.assert_close(moved, torch.tensor([[[0.5, 1.0], [0.5, 0.5]]]))


def test_angles_are_uniform_over_the_whole_turn() -> None:
    """Their mean direction is none."""
    drawn = random_angles(2000, torch.Generator().manual_seed(0))
    assert drawn.shape == (7, 2000)
    assert drawn.min() >= 0
    assert drawn.max() < 2 * math.pi
    assert abs(float(drawn.cos().mean())) < 0.03
    assert abs(float(drawn.sin().mean())) < 0.03


@both
def test_random_images_under_another_distance_are_refused(name: str) -> None:
    """A rotation changes Manhattan lengths; the images of the square keep them."""
    problem = lco.problem(name)
    fields = {"nodes": torch.rand(2, 4, 2)}
    if name == "cvrp":
        fields |= {"depot": torch.rand(2, 1, 2), "demand": torch.rand(2, 4)}
    instances = problem.instances(**fields, distance="manhattan")
    assert records.rows(images(problem, instances)) == 16
    with pytest.raises(lco.ConfigError, match=r"expected 'square'.*not Euclidean, got 'random'"):
        images(problem, instances, angles(instances))
