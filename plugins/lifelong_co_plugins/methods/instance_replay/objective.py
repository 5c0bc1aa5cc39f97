"""``L_DRL`` on replayed instances, beside the ``L_DRL`` of the present batch."""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from lifelong_co.protocols import Decode, LearnerState, Objective, Rollout, Solver
from lifelong_co.seeding import generator
from lifelong_co.tensors import records


@runtime_checkable
class SolvesEncoded(Protocol):
    """A solver that can solve instances that are encoded already; ours are POMO and Omni."""

    def solve_encoded(
        self, encoding: Any, decode: Decode = "greedy", *, generator: torch.Generator | None = None
    ) -> Rollout:
        """Return the rollout of the instances of an encoding, with gradients that reach it."""


class ReplayObjective:
    """An objective of the run's kind on replayed instances.

    It is separate from the run's own: a greedy-rollout baseline judges past tasks by the solver at
    the start of the present task, or of the present epoch if the method calls `after_epoch`. The
    random stream of the actions follows from the seed, task, epoch and batch, so no stream has to
    be saved.
    """

    def __init__(self) -> None:
        self.objective: Objective | None = None

    def before_task(self, learner: LearnerState) -> None:
        """Start a new objective."""
        self.start(learner)

    def after_epoch(self, learner: LearnerState) -> None:
        """Start a new objective: a baseline then judges by the present solver."""
        self.start(learner)

    def start(self, learner: LearnerState) -> Objective:
        """Make, keep and return a new objective."""
        self.objective = objective = learner.objective(learner.solver)
        objective.before_task(learner)
        return objective

    def loss(self, learner: LearnerState, instances: Any, purpose: str) -> Tensor:
        """Return ``L_DRL`` of sampled solutions of these instances, a scalar with a graph."""
        return self.sample(learner, instances, purpose)[0]

    def sample(
        self, learner: LearnerState, instances: Any, purpose: str, encoding: Any = None
    ) -> tuple[Tensor, Rollout]:
        """Return `loss` and the solutions that it is of.

        Parameters
        ----------
        encoding
            That of the instances, which a solver that `SolvesEncoded` uses again.
        """
        objective = self.objective or self.start(learner)
        place = f"{learner.task} {learner.epoch} {learner.batch} {purpose}"
        stream = generator(learner.seed, f"replayed actions {place}", records.device(instances))
        rollout = sampled(learner.solver, instances, stream, encoding)
        return objective.loss(instances, rollout), rollout

    def state_dict(self) -> dict[str, Any]:
        """Return the objective's state."""
        return {} if self.objective is None else self.objective.state_dict()

    def load_state_dict(self, learner: LearnerState, state: Mapping[str, Any]) -> None:
        """Restore `state_dict`."""
        self.objective = learner.objective(learner.solver)
        if state:
            self.objective.load_state_dict(learner, state)


def sampled(
    solver: Solver, instances: Any, generator: torch.Generator, encoding: Any = None
) -> Rollout:
    """Return sampled solutions; an encoding of the instances is used if the solver can."""
    if encoding is not None and isinstance(solver, SolvesEncoded):
        return solver.solve_encoded(encoding, "sample", generator=generator)
    return solver.rollout(instances, "sample", generator=generator)
