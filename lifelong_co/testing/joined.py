"""The check that states of different steps can be joined, as replay and `one_pass` join them."""

from typing import Any

import torch

from lifelong_co.protocols import Solver
from lifelong_co.replay.joined import joined_state
from lifelong_co.rollout.one_pass import side_by_side
from lifelong_co.tensors import records
from lifelong_co.testing.contract import expect_close
from lifelong_co.testing.samples import mode, observed_rollout


@torch.no_grad()
def check_joined(solver: Solver, instances: Any, *, seed: int = 0) -> None:
    """Check that states of two steps, decoded together, give the behavior of each.

    They are joined as trajectories of the same instances, and as rows of a larger batch. This holds
    in evaluation mode, for the same networks as `check_rows`.
    """
    check, what = "check_joined", "the same probs [B, S, A] of states of two steps, joined as"
    with mode(solver.module, training=False):
        _, steps = observed_rollout(solver, instances, "sample", seed)
        two = [steps[0], steps[len(steps) // 2]]
        wanted = [step.log_probs.exp() for step in two]
        beside = side_by_side([step.state for step in two])
        came = solver.log_probs(solver.encode(instances), beside).exp()
        expect_close(check, f"{what} trajectories", came, torch.cat(wanted, dim=1))
        below = joined_state([(step.unit, slice(None)) for step in two])
        twice = solver.encode(records.concatenate([instances, instances]))
        came = solver.log_probs(twice, below).exp()
        expect_close(check, f"{what} rows", came, torch.cat(wanted))
