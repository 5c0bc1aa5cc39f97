"""Learning a rollout in one pass: what it costs, its likelihood and its gradients."""

from typing import Any

import pytest
import torch

import lifelong_co as lco
from lifelong_co.rollout.one_pass import one_pass
from lifelong_co.tensors import records

SMALL = {
    "pomo": {"embedding_dim": 16, "head_num": 2, "qkv_dim": 8, "ff_hidden_dim": 16},
    "invit": {"dim_emb": 16, "dim_ff": 16, "nb_heads": 2, "action_k": 4, "state_k": [5, 6]},
}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("problem", ["cvrp", "tsp"])
def test_one_pass_equals_the_usual_rollout(name: str, problem: str) -> None:
    """Actions, costs and observed steps are equal; likelihood and gradients agree to rounding."""
    torch.manual_seed(2)
    solver: Any = lco.solver(name, problem=problem, **SMALL[name])
    solver.module.double()
    instances = lco.distribution("U", problem=problem).sample(
        3, 7, generator=torch.Generator().manual_seed(0)
    )
    instances = records.transform(instances, lambda x: x.double())
    weights = torch.linspace(-1, 2, 3, dtype=torch.double)[:, None]

    def learned(usual: bool) -> tuple[Any, list[torch.Tensor], int]:
        seen: list[Any] = []
        stream = torch.Generator().manual_seed(4)

        def observe(state: Any, log_probs: torch.Tensor) -> None:  # noqa: ARG001
            seen.append(state)

        if usual:
            found = solver.rollout(instances, "sample", generator=stream, observe=observe)
        else:
            found = one_pass(solver, instances, generator=stream, observe=observe)
        solver.module.zero_grad()
        (weights * found.log_likelihood).sum().backward()
        gradients = [p.grad.clone() for p in solver.module.parameters() if p.grad is not None]
        return found, gradients, len(seen)

    usual, expected, steps = learned(usual=True)
    found, gradients, observed = learned(usual=False)
    assert torch.equal(found.actions, usual.actions)
    assert torch.equal(found.cost, usual.cost)
    assert observed == steps
    torch.testing.assert_close(found.log_likelihood, usual.log_likelihood, rtol=1e-10, atol=1e-10)
    assert any(bool(gradient.abs().max() > 1e-3) for gradient in expected)
    for mine, its in zip(gradients, expected, strict=True):
        torch.testing.assert_close(mine, its, rtol=1e-8, atol=1e-10)
