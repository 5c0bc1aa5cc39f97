"""For authors of methods and objectives: what the loop calls, and what it passes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.errors import ConfigError
from lifelong_co.protocols.problem import Problem
from lifelong_co.protocols.solver import Observer, Rollout, Solver


@attrs.define(eq=False)
class LearnerState:
    """Where the loop stands (task, epoch and batch, from 0), and what a method may read and use."""

    problem: Problem
    solver: Solver
    optimizer: torch.optim.Optimizer
    initial: dict[str, Tensor]
    """The parameters before the first task."""
    tasks: Sequence[Any]
    """The tasks so far (`tasks.Task`), in the order of arrival; a finished run can get more."""
    stream: Any
    """The source of training batches (`tasks.TaskStream`); methods call `draw`."""
    seed: int = 0
    """Seed of the random streams of a method; it differs between processes (`data_parallel`)."""
    schedule_seed: int = 0
    """Seed for decisions that must be equal in all processes: the run's seed."""
    processes: int = 1
    """Number of processes that learn the run together, each on its share of every batch."""
    objective: Callable[[Solver], "Objective"] = attrs.field(default=lambda s: s.objective())
    """Makes a new objective of the kind that the run has."""
    task: int = 0
    epoch: int = 0
    batch: int = 0

    def draw(self, task: int, step: int | None = None, size: int | None = None) -> Any:
        """Return a fresh training batch of a task, at a step of its budget; None: `step_of`.

        It has ``size`` instances; None: as many as the task has at this step. Each call advances
        the run's stream of training instances. So a method that draws further batches here trains
        on other instances than other methods. For further batches use
        `tasks.instances.training` with a generator of `seeding.generator`.
        """
        return self.stream.batch(task, self.step_of(task) if step is None else step, size)

    def step_of(self, task: int) -> int:
        """Return the finished steps of the present task, or all steps of any other task."""
        its = self.tasks[task]
        present = self.epoch * its.batches + self.batch
        return int(present if task == self.task else its.epochs * its.batches)

    @property
    def learned(self) -> int:
        """The number of tasks that are learned to their end, as a checkpoint has it."""
        return int(self.task + (self.epoch == self.tasks[self.task].epochs))

    @property
    def last_epoch(self) -> bool:
        """Whether the present epoch is the task's last."""
        return bool(self.epoch == self.tasks[self.task].epochs - 1)


def _nothing(learner: LearnerState) -> None:
    """Do nothing."""


def _nothing_to_load(learner: LearnerState, state: Mapping[str, Any]) -> None:
    """Load nothing."""


def _no_buffer(learner: LearnerState, state: Mapping[str, Any]) -> None:  # noqa: ARG001
    raise ConfigError("expected a method with a buffer to take it up, got one without")


@attrs.frozen(eq=False, kw_only=True)
class Objective:
    """The loss that a solver learns by. Only `loss` is required; the other functions do nothing."""

    loss: Callable[[Any, Rollout], Tensor]
    """``L_DRL`` of a sampled rollout of these instances, a differentiable scalar."""
    before_task: Callable[[LearnerState], None] = _nothing
    after_epoch: Callable[[LearnerState], None] = _nothing
    state_dict: Callable[[], dict[str, Any]] = dict
    load_state_dict: Callable[[LearnerState, Mapping[str, Any]], None] = _nothing_to_load
    """As `Method.load_state_dict`: tensors arrive on the CPU."""


RESERVED = ("cost", "policy", "seconds")
"""The names of what the loop itself logs."""


def _fresh(learner: LearnerState) -> Any:
    return learner.draw(learner.task)


def _batches_of_task(learner: LearnerState) -> int:
    return int(learner.tasks[learner.task].batches)


def _no_observer(learner: LearnerState, instances: Any) -> Observer | None:  # noqa: ARG001
    return None


def _no_terms(learner: LearnerState, rollout: Rollout) -> Iterable[tuple[str, Tensor]]:  # noqa: ARG001
    return ()


@attrs.frozen(eq=False, kw_only=True)
class Method:
    """A lifelong-learning strategy: functions that the loop calls. By default each does nothing.

    Fine-tuning is ``Method()``. The functions keep their state in a closure or an object.
    `state_dict` returns it as nested dicts and lists of tensors and JSON values.
    """

    knows_all_tasks: bool = False
    """Whether it learns all tasks at once, as a reference. Then only its AP has a meaning."""
    restarts: bool = False
    """Whether every task is learned as if it were the first: `before_task` forgets the other tasks,
    the loop resets the random streams, and during a task only this task is tested."""
    before_task: Callable[[LearnerState], None] = _nothing
    """``epoch`` and ``batch`` are 0, the optimizer is new. Not called when a task is resumed."""
    before_epoch: Callable[[LearnerState], None] = _nothing
    """``batch`` is 0. Not called when an epoch is resumed."""
    batches: Callable[[LearnerState], int] = _batches_of_task
    """The number of batches of the present epoch.

    It is called before every step, and for estimates of the time. So it must change nothing.
    """
    instances: Callable[[LearnerState], Any] = _fresh
    """Chooses the batch to train on, once for each step."""
    observer: Callable[[LearnerState, Any], Observer | None] = _no_observer
    """Observes the decoding steps of the rollout on these instances.

    An observer may keep state and log-probabilities, but never writes into them.
    """
    loss_terms: Callable[[LearnerState, Rollout], Iterable[tuple[str, Tensor]]] = _no_terms
    """Yields pairs of a name and a scalar that is added to ``L_DRL``.

    The loop differentiates each term when it arrives, after ``L_DRL``, and so frees its memory
    before the next one. So terms must share no graph with each other or with the rollout. No term
    is named as one of `RESERVED`.
    """
    after_step: Callable[[LearnerState], None] = _nothing
    """After the step of the optimizer; ``batch`` is still the number of this step."""
    after_epoch: Callable[[LearnerState], None] = _nothing
    """``epoch`` is still the number of this epoch, and ``batch`` is the number of its batches."""
    after_task: Callable[[LearnerState], None] = _nothing
    """``epoch`` is the task's ``epochs``, so `last_epoch` is False. Tests and checkpoint follow."""
    adopt: Callable[[LearnerState, Mapping[str, Any]], None] = _no_buffer
    """Takes over the experiences in the `state_dict` of another run's method; called first."""
    state_dict: Callable[[], dict[str, Any]] = dict
    """Called for each checkpoint: after an epoch, or after a step if the run is interrupted."""
    load_state_dict: Callable[[LearnerState, Mapping[str, Any]], None] = _nothing_to_load
    """Called on a resume, when the learner has its place and parameters again.

    Tensors arrive on the CPU: move them to `tensors.modules.device_of` of the solver's module.
    """
