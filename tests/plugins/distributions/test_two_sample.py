"""The fast samplers and the official order draw from the same distributions.

Nodes of one instance depend on each other, so each instance gives one value of each summary
statistic, and each statistic goes through a two-sample Kolmogorov-Smirnov test, Bonferroni over
the statistics. A case is rejected wrongly with probability at most `LEVEL`; seeds are fixed.
"""

import numpy as np
import pytest
import torch
from lifelong_co_plugins.distributions import official
from lifelong_co_plugins.distributions.distribution import make_distribution
from scipy.stats import ks_2samp
from strategies import PROBLEMS
from torch import Tensor

LEVEL = 1e-3
CASES = [(problem, name) for problem in PROBLEMS for name in ("U", "GM", "E", "C", "G", "R")]


def correlation(a: Tensor, b: Tensor) -> Tensor:
    """Return Pearson's correlation per row, 0 if one of the two does not vary."""
    a, b = a - a.mean(dim=1, keepdim=True), b - b.mean(dim=1, keepdim=True)
    lengths: Tensor = a.norm(dim=1) * b.norm(dim=1)
    return (a * b).sum(dim=1) / lengths.clamp(min=1e-12)


def node_statistics(nodes: Tensor) -> dict[str, Tensor]:
    """Return ``[B]`` values that describe the positions of the nodes and their order."""
    apart = torch.cdist(nodes, nodes) + 9 * torch.eye(nodes.shape[1])
    nearest = apart.amin(dim=2)
    legs = (nodes - nodes.roll(-1, dims=1)).norm(dim=2)
    found = {
        "nearest, mean": nearest.mean(dim=1),
        "nearest, spread": nearest.std(dim=1),
        "nearest, least": nearest.amin(dim=1),
        "nearest, first": nearest[:, 0],
        "distance to the middle": (nodes - 0.5).norm(dim=2).mean(dim=1),
        "length in order": legs.sum(dim=1),
        "leg, longest": legs.amax(dim=1),
        "on the border": ((nodes == 0) | (nodes == 1)).float().mean(dim=(1, 2)),
        "x against y": correlation(nodes[..., 0], nodes[..., 1]),
    }
    ordered = nodes.sort(dim=1).values
    for axis, label in enumerate("xy"):
        found[f"{label}, spread"] = nodes[..., axis].std(dim=1)
        found[f"{label}, first"] = nodes[:, 0, axis]
        found[f"{label}, last"] = nodes[:, -1, axis]
        for quarter in range(5):
            rank = quarter * (nodes.shape[1] - 1) // 4
            found[f"{label}, quartile {quarter}"] = ordered[:, rank, axis]
    return found


def demand_statistics(nodes: Tensor, depot: Tensor, demand: Tensor) -> dict[str, Tensor]:
    """Return ``[B]`` values that describe the spread of the demands and their dependences."""
    nearest = torch.cdist(nodes, nodes).topk(4, dim=2, largest=False).values
    index = torch.arange(nodes.shape[1]).float().expand_as(demand)
    return {
        "depot, x": depot[:, 0, 0],
        "depot, y": depot[:, 0, 1],
        "demand, mean": demand.mean(dim=1),
        "demand, spread": demand.std(dim=1),
        "demand, least": demand.amin(dim=1),
        "demand, most": demand.amax(dim=1),
        "demand, first": demand[:, 0],
        "demand, last": demand[:, -1],
        "demand against depot": correlation(demand, (nodes - depot).norm(dim=2)),
        "demand against middle": correlation(demand, (nodes - 0.5).norm(dim=2)),
        "demand against crowding": correlation(demand, nearest.sum(dim=2)),
        "demand against order": correlation(demand, index),
    }


def p_values(first: list[Tensor], second: list[Tensor], *, only: str = "") -> dict[str, float]:
    """Return the Bonferroni-corrected p-value of every statistic whose name begins with ``only``.

    Each sample is ``[nodes]`` or ``[nodes, depot, demand]``.
    """
    a, b = node_statistics(first[0]), node_statistics(second[0])
    if len(first) > 1:
        a |= demand_statistics(*first)
        b |= demand_statistics(*second)
    chosen = [key for key in a if key.startswith(only)]
    # Rounded: the maps agree between one instance and a batch only up to the last bits.
    return {
        key: min(
            1.0,
            len(chosen)
            * float(
                ks_2samp(
                    np.round(a[key].numpy(), 5), np.round(b[key].numpy(), 5), method="asymp"
                ).pvalue
            ),
        )
        for key in chosen
    }


def fast(
    problem: str, name: str, batch: int, size: int, *, variant: str = "official", seed: int = 1
) -> list[Tensor]:
    """Return a sample of the fast sampler, demands in fractions of a capacity of 100."""
    distribution = make_distribution(name, PROBLEMS[problem], variant=variant, capacity=100)
    drawn = distribution.sample(batch, size, generator=torch.Generator().manual_seed(seed))
    return [drawn.nodes] if problem == "tsp" else [drawn.nodes, drawn.depot, drawn.demand]


def in_official_order(problem: str, name: str, batch: int, size: int) -> list[Tensor]:
    """Return a sample in the official order, in the units of `fast`."""
    drawn = official.draw(name, batch, size, with_demand=problem == "cvrp", seed=2)
    if drawn.depot is None or drawn.demand is None:
        return [drawn.nodes]
    return [drawn.nodes, drawn.depot, drawn.demand / 100]


@pytest.mark.parametrize("small", [False, True], ids=["its size", "17 nodes"])
@pytest.mark.parametrize(("problem", "name"), CASES)
def test_fast_sampler_and_official_order_have_equal_statistics(
    problem: str, name: str, small: bool
) -> None:
    """No statistic over 500 instances each differs, at the paper's size and another."""
    size = 17 if small else official.TEST_SIZES[name]
    p = p_values(fast(problem, name, 500, size), in_official_order(problem, name, 500, size))
    assert min(p.values()) > LEVEL, {key: value for key, value in p.items() if value <= LEVEL}


@pytest.mark.parametrize(
    ("problem", "name", "only"),
    [
        ("tsp", "E", ""),
        ("tsp", "C", ""),
        ("tsp", "R", "nearest"),
        ("cvrp", "E", ""),
        ("cvrp", "C", ""),
        ("cvrp", "R", "demand"),
        ("cvrp", "GM", "demand"),
    ],
)
def test_statistics_detect_the_paper_variant(problem: str, name: str, only: str) -> None:
    """The same test rejects wherever the paper's text differs from the code."""
    size = official.TEST_SIZES[name]
    paper = fast(problem, name, 500, size, variant="paper")
    p = p_values(paper, in_official_order(problem, name, 500, size), only=only)
    assert min(p.values()) < LEVEL


def test_statistics_detect_lost_dependence() -> None:
    """They reject demands of G shuffled among the instances: right values, wrong nodes."""
    nodes, depot, demand = fast("cvrp", "G", 500, 50)
    p = p_values([nodes, depot, demand.roll(1, dims=0)], in_official_order("cvrp", "G", 500, 50))
    assert min(p.values()) < LEVEL
    assert p["demand against depot"] < LEVEL


@pytest.mark.parametrize(("problem", "name"), [("tsp", "U"), ("tsp", "GM"), ("cvrp", "U")])
def test_variants_agree_where_text_and_code_agree(problem: str, name: str) -> None:
    """U, and GM's nodes, are the same bits in both variants."""
    both = [fast(problem, name, 10, 20, variant=variant) for variant in ("official", "paper")]
    for one, other in zip(*both, strict=True):
        assert torch.equal(one, other)


def test_paper_demand_of_r_grows_and_official_demand_shrinks_with_distance() -> None:
    """The sign of the mean correlation with the distance to the depot is as documented."""
    for variant, sign in (("paper", 1), ("official", -1)):
        nodes, depot, demand = fast("cvrp", "R", 500, 20, variant=variant)
        mean = correlation(demand, (nodes - depot).norm(dim=2)).mean()
        assert sign * float(mean) > 0.2
