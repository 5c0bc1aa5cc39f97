"""What objectives refuse, by name."""

import pytest
import torch

import lifelong_co as lco


@pytest.mark.parametrize("name", ["preference", "best-of", "reinforce-normalised"])
def test_one_trajectory_is_refused(name, made):
    """There is nothing to compare it with."""
    rollout = made(torch.ones(4, 1), torch.zeros(4, 1, requires_grad=True))
    with pytest.raises(lco.ConfigError, match=f"objective '{name}': .*at least 2 .*, got 1"):
        lco.objective(name, None).loss(None, rollout)
