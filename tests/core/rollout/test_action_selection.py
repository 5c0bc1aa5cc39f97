"""How a rollout decodes by default, and which action it takes."""

import torch

from lifelong_co.rollout import Decoding
from lifelong_co.rollout.action_selection import pick, with_default


def seeded(seed: int = 0) -> torch.Generator:
    """Return a random stream."""
    return torch.Generator().manual_seed(seed)


def test_a_default_gives_way() -> None:
    """Only where no number of trajectories is asked for."""
    assert with_default(7).trajectories == 7
    assert with_default(7, trajectories=2).trajectories == 2
    assert Decoding().trajectories == 1


def test_impossible_actions_are_never_picked() -> None:
    """Where only one action has a chance, it is taken every time."""
    log_probs = torch.full((4, 5, 3), -torch.inf)
    log_probs[..., 1] = 0.0
    for decode in ("greedy", "sample"):
        assert (pick(log_probs, decode, seeded()) == 1).all()  # type: ignore[arg-type]
