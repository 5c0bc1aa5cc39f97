"""POMO's decoder: tables and attention agree."""

import pytest
import torch
from goldens import PROBLEMS, golden
from lifelong_co_adapters.pomo import network
from lifelong_co_adapters.pomo.decoder import Nodes, Tables

both = pytest.mark.parametrize("name", PROBLEMS)

# The most actions for lookup tables: none, and more than the goldens have.
PATHS = {"attention": (0, Nodes), "tables": (1000, Tables)}


@both
def test_both_decoder_paths_have_the_same_gradients(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables and attention agree to 1e-9 relative in the gradient of every parameter."""
    stored = golden(name)
    gradients = []
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(stored.cost.shape, dtype=torch.float64, generator=generator)
    for most, _ in PATHS.values():
        monkeypatch.setattr(network, "TABLE_ACTIONS", most)
        solver = stored.solver()
        rollout = solver.rollout(stored.instances, "greedy")
        (weights * rollout.log_likelihood).sum().backward()
        gradients.append({key: p.grad for key, p in solver.module.named_parameters()})
    assert all(gradient is not None for gradient in gradients[0].values())
    # Relative to the largest, because biases before a norm have only rounding errors as gradients.
    largest = max(float(gradient.abs().max()) for gradient in gradients[0].values())
    assert largest > 0.1
    for key, gradient in gradients[0].items():
        torch.testing.assert_close(
            gradients[1][key], gradient, rtol=1e-9, atol=1e-9 * largest, msg=key
        )
