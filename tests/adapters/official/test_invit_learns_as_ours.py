"""The official INViT and ours with the same weights: probabilities and a training step."""

from typing import Any

import pytest
import torch
from goldens import PROBLEMS
from learned_alike import assert_gradients_alike, instances_of, learn, sampled
from lifelong_co_adapters.invit.official_names import from_official
from upstreams import official

import lifelong_co as lco

SMALL: dict[str, Any] = {
    "dim_emb": 16,
    "dim_ff": 32,
    "nb_heads": 2,
    "strict_capacity": True,  # the official rule
}

pytestmark = official


def pair(problem: str) -> tuple[Any, Any]:
    """Return ours and the official class in float64 with the same random weights."""
    theirs, ours = (
        lco.solver(name, problem=problem, **SMALL) for name in ("official-invit", "invit")
    )
    generator = torch.Generator().manual_seed(0)
    weights = theirs.module.state_dict()
    for key, value in weights.items():
        drawn = 0.2 * torch.randn(value.shape, generator=generator, dtype=torch.float64)
        weights[key] = drawn + (key.endswith("weight") and value.ndim == 1)  # plus 1 in norms
    for solver in (ours, theirs):
        solver.module.double()
        solver.load_official(weights)
    return ours, theirs


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize(("size", "batch", "trajectories"), [(20, 3, 3), (50, 2, 2), (100, 2, 1)])
def test_ours_and_the_official_network_learn_alike(
    problem: str, size: int, batch: int, trajectories: int
) -> None:
    """Probabilities agree, and gradients to 1e-5 relative, with the views of the paper."""
    ours, theirs = pair(problem)
    instances = instances_of(problem, size, batch)
    actions = sampled(ours, instances, trajectories)
    forced = int(problem == "tsp")  # its first node is forced
    probs = [learn(solver, instances, actions, forced) for solver in (ours, theirs)]
    torch.testing.assert_close(*probs, rtol=0, atol=1e-6)
    assert_gradients_alike(ours, theirs, from_official)
