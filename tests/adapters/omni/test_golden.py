"""Omni, compared with the official network in float64, for every norm with a golden."""

import pytest
import torch
from goldens import PROBLEMS, golden
from torch import Tensor

NORMS = ("instance", "batch_no_track", "rezero")


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_greedy_rollout_is_the_stored_one(name: str, norm: str) -> None:
    """Actions and costs equal the stored ones, probabilities to 1e-6 at every step."""
    stored = golden(name, "omni", norm)
    seen: list[Tensor] = []
    rollout = stored.solver().rollout(
        stored.instances, decode="greedy", observe=lambda _, log_probs: seen.append(log_probs.exp())
    )
    assert torch.equal(rollout.actions, stored.actions)
    torch.testing.assert_close(rollout.cost, stored.cost, rtol=1e-14, atol=0)
    torch.testing.assert_close(torch.stack(seen, dim=2), stored.probs, rtol=0, atol=1e-6)
