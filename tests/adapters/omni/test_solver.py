"""Omni as a solver: its normalisations."""

import pytest
import torch

import lifelong_co as lco

NORMS = ("instance", "batch_no_track", "rezero")

TINY = {
    "embedding_dim": 16,
    "head_num": 2,
    "qkv_dim": 8,
    "encoder_layer_num": 2,
    "ff_hidden_dim": 16,
}


@pytest.mark.parametrize("norm", [*NORMS, "batch", "none"])
def test_every_normalisation_gives_gradients(norm: str) -> None:
    """Every parameter gets a finite gradient, and some are not zero."""
    torch.manual_seed(0)
    solver = lco.solver("omni", problem="cvrp", norm=norm, **TINY)
    instances = lco.distribution("U", "cvrp").sample(4, 6)
    rollout = solver.rollout(instances, "sample")
    solver.objective().loss(instances, rollout).backward()
    gradients = [parameter.grad for parameter in solver.module.parameters()]
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert any(gradient.any() for gradient in gradients)


def test_evaluation_depends_on_the_batch_only_without_tracking() -> None:
    """It does with ``batch_no_track`` and does not with ``batch``."""
    instances = lco.distribution("U", "tsp").sample(4, 6)
    alone = lco.problem("tsp").instances(nodes=instances.nodes[:1])
    for norm, depends in (("batch", False), ("batch_no_track", True)):
        torch.manual_seed(0)
        solver = lco.solver("omni", problem="tsp", norm=norm, **TINY)
        solver.module.eval()
        state = solver.problem.step(
            instances, solver.problem.reset(instances, 2), torch.tensor([[0, 1]]).expand(4, 2)
        )
        first = solver.problem.step(alone, solver.problem.reset(alone, 2), torch.tensor([[0, 1]]))
        among = solver.log_probs(solver.encode(instances), state)[:1]
        itself = solver.log_probs(solver.encode(alone), first)
        assert torch.allclose(among, itself, atol=1e-6) != depends


def test_unknown_normalisation_is_refused() -> None:
    """The error lists the names."""
    with pytest.raises(lco.UnknownNameError, match="batch_no_track"):
        lco.solver("omni", problem="tsp", norm="layer")
