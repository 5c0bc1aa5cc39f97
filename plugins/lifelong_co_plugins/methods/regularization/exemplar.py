"""Exemplars: frozen copies of the solver with which the learner is compared.

They are compared in every state of the present rollout that was not forced. The rollout's graph is
free by then (`protocols.Method.loss_terms`), so the states are kept, and the learner's behavior is
computed again, some steps at a time. The policy depends on the state only, so steps can be joined
as if they were trajectories. This does not fit batch normalisation: there the learner has the
statistics of its batch and the exemplar running ones, so even equal parameters differ.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from lifelong_co.protocols import Divergence, LearnerState, Observer, Solver
from lifelong_co.rollout.one_pass import side_by_side
from lifelong_co.tensors.modules import device_of, evaluating, with_parameters
from lifelong_co.tensors.precision import not_half

# Log-probabilities of one pass; more would cost more memory than encoding once more costs time.
ELEMENTS = 2**21


class Exemplar:
    """The copy, and the states of the present rollout."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        """As in the module's ``state_dict``; empty: there is no exemplar."""
        self.instances: Any = None
        self.states: list[Any] = []
        self.actions = 0

    def copy(self, solver: Solver) -> None:
        """Make the present solver the exemplar."""
        self.tensors = frozen_copy(solver.module)

    def observer(self, learner: LearnerState, instances: Any) -> Observer | None:  # noqa: ARG002
        """Keep the states of this rollout, if there is an exemplar to compare in them."""
        self.states, self.instances = [], instances
        if not self.tensors:
            return None

        def observe(state: Any, log_probs: Tensor) -> None:
            self.states.append(state)
            self.actions = log_probs.shape[2]

        return observe

    def divergences(self, solver: Solver, divergence: Divergence) -> Iterator[Tensor]:
        """Yield scalars with separate graphs that sum to the mean over all states.

        The exemplar is the teacher. Without an exemplar nothing is yielded.
        """
        states = self.states
        for part in self.sums(solver, divergence):
            yield part / (states[0].current.numel() * len(states))

    def sums(
        self, solver: Solver, divergence: Divergence, teachers: Sequence[Any] | None = None
    ) -> Iterator[Tensor]:
        """Yield scalars with separate graphs that sum to the divergences in all states.

        The exemplar acts in ``teachers``, one state for each state of the rollout; None: in the
        states of the rollout, as the learner.
        """
        states, self.states = self.states, []
        if not states:
            return
        steps = max(1, ELEMENTS // (states[0].current.numel() * self.actions))
        for first in range(0, len(states), steps):
            state = side_by_side(states[first : first + steps])
            other = state if teachers is None else side_by_side(teachers[first : first + steps])
            learner = not_half(solver.log_probs(solver.encode(self.instances), state))
            yield divergence(self.behavior(solver, other), learner).sum()

    @torch.no_grad()
    def behavior(self, solver: Solver, state: Any) -> Tensor:
        """Return the exemplar's log-probs ``[B, S, A]``."""
        with evaluating(solver.module):
            found = with_parameters(
                solver.module,
                self.tensors,
                lambda: solver.log_probs(solver.encode(self.instances), state),
            )
        return not_half(found)

    def state_dict(self) -> dict[str, Any]:
        """Return the copy; the states of a rollout do not outlive its step."""
        return {"tensors": self.tensors}

    def load_state_dict(self, learner: LearnerState, state: Mapping[str, Any]) -> None:
        """Restore `state_dict`."""
        self.tensors = as_frozen(learner.solver.module, state["tensors"])


class BestSoFar:
    """Keeps the solver of a task's best epoch as the exemplar.

    The best epoch has the lowest mean of the values that the method notes, one for each batch. Each
    value has a weight: the share of a whole batch.
    """

    def __init__(self, exemplar: Exemplar) -> None:
        self.exemplar = exemplar
        self.lowest = math.inf
        self.total = 0.0
        self.count = 0.0

    def before_task(self, learner: LearnerState) -> None:  # noqa: ARG002
        """Forget the best of the task before."""
        self.exemplar.tensors = {}
        self.lowest, self.total, self.count = math.inf, 0.0, 0.0

    def note(self, value: float, weight: float = 1.0) -> None:
        """Add a batch's value to the epoch's mean."""
        self.total += value * weight
        self.count += weight

    def after_epoch(self, learner: LearnerState) -> None:
        """Replace the exemplar if this epoch has the lowest mean; it may have none."""
        if self.count and self.total / self.count < self.lowest:
            self.lowest = self.total / self.count
            self.exemplar.copy(learner.solver)
        self.total, self.count = 0.0, 0.0

    def state_dict(self) -> dict[str, Any]:
        """Return all of it, the exemplar included."""
        return {
            "exemplar": self.exemplar.state_dict(),
            "lowest": self.lowest,
            "total": self.total,
            "count": self.count,
        }

    def load_state_dict(self, learner: LearnerState, state: Mapping[str, Any]) -> None:
        """Restore `state_dict`."""
        self.exemplar.load_state_dict(learner, state["exemplar"])
        self.lowest, self.total, self.count = state["lowest"], state["total"], state["count"]


def training_cost(cost: Tensor) -> float:
    """Return a batch's training cost, as the log has it: the mean over instances of the best."""
    return float(cost.min(dim=1).values.mean())


def share_of_batch(learner: LearnerState) -> float:
    """Return the size of the present batch divided by the task's batch size, in ``(0, 1]``."""
    task = learner.tasks[learner.task]
    return float(task.batch_size_at(learner.step_of(learner.task)) / task.batch_size)


def frozen_copy(module: nn.Module) -> dict[str, Tensor]:
    """Return a copy of a module's ``state_dict`` that needs no gradients.

    Parameters stay `torch.nn.Parameter`: networks may ask for them as such.
    """
    return as_frozen(module, module.state_dict())


def as_frozen(module: nn.Module, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return a frozen copy, as `frozen_copy` does, of tensors that a checkpoint holds."""
    device = device_of(module)
    names = {name for name, _ in module.named_parameters()}
    copied = {name: tensor.detach().clone().to(device) for name, tensor in tensors.items()}
    return {
        name: nn.Parameter(tensor, requires_grad=False) if name in names else tensor
        for name, tensor in copied.items()
    }
