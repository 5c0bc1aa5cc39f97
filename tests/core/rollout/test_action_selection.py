"""How a rollout decodes by default, and which action it takes."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lifelong_co.protocols import Decode
from lifelong_co.rollout import Decoding
from lifelong_co.rollout.action_selection import pick, with_default


def seeded(seed: int = 0) -> torch.Generator:
    """Return a random stream."""
    return torch.Generator().manual_seed(seed)


def test_default_number_of_trajectories_is_used_only_if_none_is_given() -> None:
    """A given number replaces the default."""
    assert with_default(7).trajectories == 7
    assert with_default(7, trajectories=2).trajectories == 2
    assert Decoding().trajectories == 1


def test_impossible_actions_are_never_picked() -> None:
    """If only one action has a probability, it is taken every time."""
    log_probs = torch.full((4, 5, 3), -torch.inf)
    log_probs[..., 1] = 0.0
    for decode in ("greedy", "sample"):
        assert (pick(log_probs, decode, seeded()) == 1).all()  # type: ignore[arg-type]


@given(
    mask=st.lists(st.booleans(), min_size=2, max_size=12).filter(any),
    uniform=st.sampled_from([0.0, 2**-24, 0.5, 1 - 2**-24]),
    seed=st.integers(0, 2**16),
)
def test_pick_never_takes_an_action_of_probability_zero(
    mask: list[bool], uniform: float, seed: int
) -> None:
    """It holds for the least and the greatest uniform number, too."""
    feasible = torch.tensor(mask)
    logits = 10 * torch.randn(len(mask), generator=torch.Generator().manual_seed(seed))
    log_probs = logits.masked_fill(~feasible, -torch.inf).log_softmax(dim=0)[None, None]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "rand", lambda shape, **_: torch.full(shape, uniform))
        action = pick(log_probs, "sample")
    assert action.shape == (1, 1)
    assert log_probs.exp()[0, 0, action] > 0


def test_behavior_in_bfloat16_is_sampled_in_single_precision() -> None:
    """A cumulative sum of 8 bits would leave out most of the unlikely actions."""
    probs = torch.tensor([0.9, *[0.001] * 99, 0.001])
    log_probs = probs.log().bfloat16().expand(1, 20_000, -1)
    action = pick(log_probs, "sample", seeded())
    # An action has 20 draws on average: it has none with probability 2e-9.
    assert action.unique().numel() == len(probs)


@pytest.mark.parametrize("bad", [math.nan, -math.inf])
@pytest.mark.parametrize("decode", ["greedy", "sample"])
def test_state_without_behavior_gives_an_action_of_no_probability(
    bad: float, decode: Decode
) -> None:
    """The action is a valid index, and its log-probability is not finite; others are as before."""
    log_probs = torch.full((1, 3, 4), math.log(0.25))
    log_probs[0, 1] = bad
    action = pick(log_probs, decode, seeded())
    assert ((action >= 0) & (action < 4)).all()
    chosen = log_probs.gather(2, action[..., None]).squeeze(2)
    assert chosen.isfinite().tolist() == [[True, False, True]]
    log_probs[0, 1] = math.log(0.25)
    whole = pick(log_probs, decode, seeded())
    assert torch.equal(whole[:, ::2], action[:, ::2])
