"""The random images of INViT's code (``run_aug``) and ours, and what its network makes of them."""

from typing import Any

import pytest
import torch
from goldens import PROBLEMS
from lifelong_co_adapters.official.loading import load
from lifelong_co_adapters.official.locate import upstream
from lifelong_co_adapters.official.neighbors import stand_ins
from torch import Tensor
from upstreams import official

import lifelong_co as lco
from lifelong_co.problems.images import IMAGES, images, random_angles
from lifelong_co.tensors import records

SMALL: dict[str, Any] = {"dim_emb": 16, "dim_ff": 32, "nb_heads": 2, "strict_capacity": True}

pytestmark = official


def drawn(problem: str) -> Any:
    """Return 4 uniform instances in float64."""
    generator = torch.Generator().manual_seed(0)
    instances = lco.distribution("U", problem).sample(4, 12, generator=generator)
    return records.transform(instances, lambda tensor: tensor.double())


def mirrored(images: Tensor, points: Tensor) -> Tensor:
    """Return, for each image of one instance, whether it is mirrored."""

    def area(of: Tensor) -> Tensor:
        a, b = of[..., 1, :] - of[..., 0, :], of[..., 2, :] - of[..., 0, :]
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]

    return area(images) * area(points) < 0


def lengths(points: Tensor) -> Tensor:
    """Return all distances, relative to the largest."""
    found = torch.cdist(points, points)
    return found / found.amax(dim=(-2, -1), keepdim=True)


def test_official_images_are_of_the_same_kind_as_ours() -> None:
    """Of eight, the first is the instance, three are rotations and four reflections, scaled."""
    utils = load(upstream("INViT"), "utils.utils_for_model", stand_ins())
    problem, instances = lco.problem("tsp"), drawn("tsp")
    ours = images(problem, instances, random_angles(4, torch.Generator().manual_seed(1)))
    for b, points in enumerate(instances.nodes):
        theirs = utils.run_aug("mix", points.repeat(IMAGES, 1, 1), IMAGES)
        own = ours.nodes.view(IMAGES, 4, 12, 2)[:, b]
        for made in (theirs, own):
            assert torch.equal(made[0], points)
            assert mirrored(made, points).sum() == 4
            torch.testing.assert_close(lengths(made), lengths(points).expand(IMAGES, -1, -1))


@pytest.mark.parametrize("name", ["invit", "official-invit"])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_invit_does_not_depend_on_the_scale_of_its_images(problem: str, name: str) -> None:
    """So the official scaling changes nothing: solutions of an image and of it scaled are equal."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        solver = lco.solver(name, problem=problem, **SMALL)
    solver.module.double().eval()
    instances = drawn(problem)
    made = images(solver.problem, instances, random_angles(4, torch.Generator().manual_seed(1)))
    utils = load(upstream("INViT"), "utils.utils_for_model", stand_ins())
    parts = [x for x in (made.nodes, getattr(made, "depot", None)) if x is not None]
    points, _ = utils.Scale(torch.cat(parts, dim=1))
    scaled = {"nodes": points[:, : made.nodes.shape[1]]}
    if problem == "cvrp":
        scaled |= {"depot": points[:, -1:], "demand": made.demand}
    with torch.no_grad():
        found = [
            solver.rollout(each, "greedy") for each in (made, solver.problem.instances(**scaled))
        ]
    assert torch.equal(found[0].actions, found[1].actions)
    torch.testing.assert_close(found[0].log_likelihood, found[1].log_likelihood, rtol=1e-6, atol=0)
    again = solver.problem.cost(instances, found[1].actions[:4])
    torch.testing.assert_close(found[0].cost[:4], again)
