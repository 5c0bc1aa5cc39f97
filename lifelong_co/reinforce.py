"""REINFORCE with the shared baseline of POMO (Kwon et al. 2020, eqs. 3 and 4)."""

from torch import Tensor

from lifelong_co.protocols import Rollout


def shared_baseline(rollout: Rollout) -> Tensor:
    """Return the policy loss of a sampled rollout, a scalar.

    The baseline of each trajectory is the mean cost of the ``S`` trajectories of its instance.
    """
    advantage = rollout.cost - rollout.cost.mean(dim=1, keepdim=True)  # [B, S], > 0: too long
    return (advantage * rollout.log_likelihood).mean()
