"""REINFORCE and the baselines that solvers learn with."""

import copy
from collections.abc import Mapping
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.problems.images import IMAGES
from lifelong_co.protocols import LearnerState, Objective, Rollout, Solver
from lifelong_co.rollout.verification import best_of, require_valid
from lifelong_co.tensors.modules import device_of, evaluating, with_parameters
from lifelong_co.validators import at_least, not_negative


@attrs.frozen(kw_only=True)
class Trial:
    """How the present parameters are compared with the baseline's at the end of an epoch."""

    batches: int = attrs.field(default=4, validator=at_least(1))
    """Fresh training batches of the task, at least 1."""
    tolerance: float = attrs.field(default=0.0, validator=not_negative)
    """How much lower the mean cost must be, at least 0, in the unit of the coordinates."""
    images: bool = False
    """Whether the cost of an instance is the least of its eight images (`tasks.stream`)."""


def shared_baseline() -> Objective:
    """Return the objective of POMO (Kwon et al. 2020, eqs. 3 and 4).

    The baseline of each trajectory is the mean cost of the ``S`` trajectories of its instance.
    """

    def loss(instances: Any, rollout: Rollout) -> Tensor:  # noqa: ARG001
        return weighted(rollout, rollout.cost.mean(dim=1, keepdim=True))

    return Objective(loss=loss)


def greedy_baseline(solver: Solver, trial: Trial | None = None) -> Objective:
    """Return the objective with a greedy rollout baseline (Kool et al. 2019, §4).

    The baseline of a trajectory is the cost that the best parameters so far reach on its instance
    with greedy decoding. When a task starts, the best parameters are the present ones. At the end
    of an epoch the present ones replace them if they win the trial: if their mean cost on fresh
    instances is lower.
    """
    baseline = GreedyBaseline(solver, trial or Trial())
    return Objective(
        loss=baseline.loss,
        before_task=baseline.before_task,
        after_epoch=baseline.after_epoch,
        state_dict=baseline.state_dict,
        load_state_dict=baseline.load_state_dict,
    )


def weighted(rollout: Rollout, baseline: Tensor) -> Tensor:
    """Return REINFORCE's loss, a scalar, for a baseline ``[B, S]`` or ``[B, 1]``."""
    advantage = rollout.cost - baseline  # > 0: longer than expected
    return (advantage * rollout.log_likelihood).mean()


class GreedyBaseline:
    """The best parameters so far and the costs they reach; see `greedy_baseline`."""

    def __init__(self, solver: Solver, trial: Trial) -> None:
        self.solver = solver
        self.trial = trial
        self.best = copy.deepcopy(solver.module.state_dict())

    def before_task(self, learner: LearnerState) -> None:  # noqa: ARG002
        """Start with the present parameters."""
        self.best = copy.deepcopy(self.solver.module.state_dict())

    def loss(self, instances: Any, rollout: Rollout) -> Tensor:
        """Return the policy loss, a scalar."""
        baseline = self.greedy(instances, rollout.cost.shape[1], self.best)
        return weighted(rollout, baseline.cost)

    def after_epoch(self, learner: LearnerState) -> None:
        """Replace the best parameters if the present ones win the trial.

        Raises
        ------
        InvalidRolloutError
            If a solution of the trial is not complete and feasible.
        """
        present = self.solver.module.state_dict()
        candidate = baseline = 0.0
        for _ in range(self.trial.batches):
            instances = learner.draw(learner.task)
            if self.trial.images:
                instances = learner.stream.images(instances)
            candidate += self.mean_cost(instances, present)
            baseline += self.mean_cost(instances, self.best)
        if candidate + self.trial.batches * self.trial.tolerance < baseline:
            self.best = copy.deepcopy(present)

    def mean_cost(self, instances: Any, parameters: Any) -> float:
        """Return the mean cost of the instances, with images that of each one's best.

        The solutions are checked.
        """
        rollout = self.greedy(instances, None, parameters)
        require_valid(self.solver, *best_of(self.solver.problem, instances, rollout))
        costs = rollout.cost
        if self.trial.images:
            costs = costs.unflatten(0, (IMAGES, -1)).amin(dim=0)
        return float(costs.mean())

    @torch.no_grad()
    def greedy(self, instances: Any, trajectories: int | None, parameters: Any) -> Rollout:
        """Return solutions by greedy decoding with the given parameters."""
        module = self.solver.module
        with evaluating(module):
            return with_parameters(
                module,
                parameters,
                lambda: self.solver.rollout(instances, "greedy", trajectories=trajectories),
            )

    def state_dict(self) -> dict[str, Any]:
        """Return the baseline's parameters."""
        return {"best": self.best}

    def load_state_dict(self, learner: LearnerState, state: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Restore `state_dict`."""
        device = device_of(self.solver.module)
        self.best = {name: tensor.to(device) for name, tensor in state["best"].items()}
