"""The policy loss with the shared baseline, against cases worked out by hand."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from lifelong_co.protocols import Rollout
from lifelong_co.reinforce import shared_baseline

COST = torch.tensor([[1.0, 3.0, 2.0], [5.0, 5.0, 5.0]], dtype=torch.float64)
LOG_LIKELIHOOD = torch.tensor([[-1.0, -2.0, -4.0], [-7.0, -8.0, -9.0]], dtype=torch.float64)


def rollout(cost: Tensor, log_likelihood: Tensor) -> Rollout:
    """Return a rollout; its actions do not matter."""
    return Rollout(
        actions=torch.zeros(*cost.shape, 1, dtype=torch.long),
        cost=cost,
        log_likelihood=log_likelihood,
    )


def test_the_loss_by_hand() -> None:
    """Advantages are -1, 1, 0 and three zeros: (1 - 2) / 6."""
    assert shared_baseline(rollout(COST, LOG_LIKELIHOOD)).item() == pytest.approx(-1 / 6, abs=1e-15)


def test_its_gradient_by_hand() -> None:
    """The gradient of each log-likelihood is its advantage over ``B S``; costs get none."""
    likelihood = LOG_LIKELIHOOD.clone().requires_grad_()
    shared_baseline(rollout(COST, likelihood)).backward()
    want = torch.tensor([[-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]], dtype=torch.float64) / 6
    torch.testing.assert_close(likelihood.grad, want, rtol=0, atol=1e-15)


def test_one_trajectory_teaches_nothing() -> None:
    """With a single trajectory the baseline is its own cost."""
    likelihood = LOG_LIKELIHOOD[:, :1].clone().requires_grad_()
    loss = shared_baseline(rollout(COST[:, :1], likelihood))
    loss.backward()
    assert loss.item() == 0
    assert not likelihood.grad.any()


@given(
    shift=st.lists(st.floats(-100, 100), min_size=2, max_size=2),
    scale=st.floats(0.01, 100),
)
def test_only_differences_within_an_instance_count(shift: list[float], scale: float) -> None:
    """A cost added to all trajectories of an instance changes nothing; a factor comes out."""
    offsets = torch.tensor(shift, dtype=torch.float64)[:, None]
    moved = shared_baseline(rollout(scale * COST + offsets, LOG_LIKELIHOOD))
    torch.testing.assert_close(
        moved,
        torch.tensor(-scale / 6, dtype=torch.float64),
        rtol=1e-9,
        atol=1e-11,
    )
