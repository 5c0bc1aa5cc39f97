"""Every contract between the parts of lifelong-co; the shape of each tensor is written here once.

Sizes: ``B`` instances, ``n`` nodes, ``S`` trajectories per instance, ``A`` actions (``n`` for the
TSP; ``n + 1`` for the CVRP, where action 0 is the depot), ``T`` actions of a solution. A *record*
is a frozen attrs class whose fields are tensors with the same first dimension (`tensors.records`).
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

import attrs
import torch
from torch import Tensor, nn

from lifelong_co.errors import ConfigError

Decode = Literal["greedy", "sample"]
X = TypeVar("X")


class Instances(Protocol):
    """A batch of ``B`` instances, as a record."""

    @property
    def nodes(self) -> Tensor:
        """Coordinates, float ``[B, n, 2]``. A problem without coordinates lacks this field."""


class State(Protocol):
    """The partial solution of every trajectory, as a record of tensors ``[B, S, ...]``."""

    @property
    def current(self) -> Tensor:
        """The node visited last, long ``[B, S]``; -1 if no node is visited yet."""


@attrs.frozen(eq=False)
class Context:
    """The part of a state that a network reads."""

    nodes: dict[str, Tensor]
    """Role to node index, long ``[B, S]``; where `nowhere` is True, any valid index."""
    scalars: Tensor | None = None
    """Float ``[B, S, k]``, or None when ``k = 0``."""
    nowhere: Tensor | None = None
    """Bool ``[B, S]``: True if the trajectory has visited no node yet. None: False everywhere."""


class Problem(Protocol):
    """Instances, states and costs of one routing problem.

    Instances and states are records. Only the method `instances` may wait for the device.
    """

    name: str
    """The registered name."""
    instances_type: type[Any]
    """The record type of its instances; it follows `Instances`."""
    state_type: type[Any]
    """The record type of its states; it follows `State`."""
    feature_dims: dict[str, int]
    """Width of each tensor of `features`."""
    context_nodes: tuple[str, ...]
    """Roles of `Context.nodes`."""
    context_scalars: int
    """``k`` of `Context.scalars`."""

    def instances(self, **fields: Any) -> Any:
        """Check tensors and return a record; raise `InvalidInstancesError` for a wrong field."""

    def reset(self, instances: Any, trajectories: int) -> Any:
        """Return the state of ``S = trajectories`` empty solutions."""

    def feasible(self, instances: Any, state: Any) -> Tensor:
        """Return bool ``[B, S, A]``: which actions are allowed next."""

    def strictly_feasible(self, instances: Any, state: Any) -> Tensor:
        """Return bool ``[B, S, A]``: `feasible` by the rule of INViT's code (`problems.cvrp`)."""

    def unfinished(self, state: Any) -> Tensor:
        """Return bool ``[B, S, A]``: the nodes still to visit, now or later; never a depot."""

    def step(self, instances: Any, state: Any, action: Tensor) -> Any:
        """Return the state after ``action``, long ``[B, S]``."""

    def done(self, instances: Any, state: Any) -> Tensor:
        """Return bool ``[B, S]``: which trajectories are complete solutions."""

    def cost(self, instances: Any, actions: Tensor) -> Tensor:
        """Return the cost ``[B, S]`` of ``actions``, long ``[B, S, T]``."""

    def size(self, instances: Any) -> int:
        """Return the number of nodes ``n``."""

    def steps(self, size: int) -> tuple[int, int]:
        """Return the lowest and the highest possible ``T`` for ``n = size``."""

    def starts(self, instances: Any, trajectories: int) -> tuple[Tensor, ...]:
        """Return the forced first actions of a multi-start, each long ``[B, S]``."""

    def augment(self, instances: Any) -> Any:
        """Return ``8 B`` instances: row ``k * B + b`` is the ``k``-th image of instance ``b``."""

    def features(self, instances: Any) -> dict[str, Tensor]:
        """Return float ``[B, *, dim]`` for each kind of action; together they cover all ``A``."""

    def context(self, state: Any) -> Context:
        """Return the part of a state that a network reads."""


Observer = Callable[[Any, Tensor], None]
"""Called with ``(state, log_probs [B, S, A])`` at each decoding step that is not forced."""


@attrs.frozen(eq=False)
class Rollout:
    """Solutions of a batch."""

    actions: Tensor
    """Long ``[B, S, T]``, forced actions included."""
    cost: Tensor
    """Float ``[B, S]``, in the unit of the coordinates."""
    log_likelihood: Tensor
    """Float ``[B, S]``: the sum of the log-probabilities of the actions taken; differentiable."""


@runtime_checkable
class Solver(Protocol):
    """A neural routing solver: a policy that depends on the instance and the state only."""

    @property
    def problem(self) -> Problem:
        """The problem it solves."""

    @property
    def module(self) -> nn.Module:
        """The network with its parameters."""

    def encode(self, instances: Any) -> Any:
        """Return all that `log_probs` needs of the instances; called once per batch."""

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Return the log-probabilities ``[B, S, A]``; -inf where infeasible; differentiable."""

    def rollout(
        self,
        instances: Any,
        decode: Decode = "greedy",
        *,
        trajectories: int | None = None,
        generator: torch.Generator | None = None,
        observe: Observer | None = None,
    ) -> Rollout:
        """Solve the instances with ``S = trajectories`` solutions each.

        With None the solver chooses ``S``: ``n`` for POMO, 1 for INViT. An observer may keep what
        it receives, so a loop that uses the same memory again for the next step passes copies.
        """

    def objective(self) -> "Objective":
        """Return a new ``L_DRL`` (paper §3, eq. 2) with the state it keeps between steps."""

    def load_official(self, state_dict: Mapping[str, Tensor]) -> None:
        """Load parameters under the official code's names and shapes."""


Weighting = Callable[[Tensor], Tensor]
"""``w(e)`` of the teacher's behavior: probs ``[..., A] -> [...]``, not normalised, at least 0.

It must depend on the behavior only, because the weight of an experience is computed once and kept.
"""

Divergence = Callable[[Tensor, Tensor], Tensor]
"""``D(e)`` per state: teacher and learner log-probs ``[..., A] x [..., A] -> [...]``.

Both are -inf on infeasible actions; the gradient there must be zero, not NaN. The teacher may be
-inf where the learner is finite, and the other way round: INViT considers only the nearest nodes,
and the experiences in a buffer can come from another solver.
"""


class ConsolidationLoss(Protocol):
    """The consolidation loss ``L_BC``, eq. 1 of the paper."""

    def __call__(self, teachers: Sequence[Tensor], learners: Sequence[Tensor]) -> Tensor:
        """Return a scalar from two lists of log-probs ``[B, S, A]``, one entry per unit."""

    def raw_weights(self, teacher: Tensor) -> Tensor:
        """Return the weights ``[B, S]`` of one unit's states before normalisation, at least 0."""

    def normalise(self, raw: Sequence[Tensor]) -> list[Tensor]:
        """Return the weights ``[B, S]`` of each unit, normalised so that all of them sum to 1."""

    def unit(self, weights: Tensor, teacher: Tensor, learner: Tensor) -> Tensor:
        """Return one unit's share of the loss, a scalar; `__call__` sums over the units."""


class Experience(Protocol):
    """One decoding step of one batch: a state and the behavior of the solver in it."""

    @property
    def task(self) -> int:
        """Index of the task it was recorded on."""

    @property
    def instances(self) -> Any:
        """The batch's instances (shared by all experiences of the batch)."""

    def state(self, rows: Tensor | slice = slice(None)) -> Any:
        """Return the state of the chosen instances; by default of all."""

    def log_probs(self, rows: Tensor | slice = slice(None)) -> Tensor:
        """Return the behavior ``P`` on the chosen instances as log-probabilities ``[B, S, A]``."""


class Buffer(Protocol[X]):
    """A store of fixed capacity for items of any type."""

    @property
    def capacity(self) -> int:
        """The highest number of items it can hold."""

    @property
    def seen(self) -> int:
        """The number of items offered to it so far."""

    def admit(self) -> int | None:
        """Count an offer; return its slot, or None if rejected. Several may come before a `put`."""

    def put(self, slot: int, item: X) -> None:
        """Store an admitted item. Items are put in the order in which they were admitted."""

    def add(self, item: X) -> None:
        """Offer an item: `admit`, then `put`."""

    def sample(self, k: int) -> list[X]:
        """Return ``min(k, len)`` items, drawn uniformly without replacement."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[X]: ...

    def state_dict(self) -> dict[str, Any]:
        """Return the complete state, including that of the random stream."""

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore `state_dict`."""


class Distribution(Protocol):
    """A distribution of instances of one problem."""

    def sample(self, batch: int, size: int, *, generator: torch.Generator | None = None) -> Any:
        """Return ``B = batch`` instances of ``n = size`` on the generator's device."""


class FileFormat(Protocol):
    """How the instances of one problem are read from files."""

    suffixes: tuple[str, ...]
    """Of the files' names, e.g. ``(".vrp",)``."""

    def __call__(self, path: str | os.PathLike[str], *, best_known: float | None = None) -> Any:
        """Return a `file_instance.FileInstance`; raise `FileFormatError` if that is impossible."""


class FieldSampler(Protocol):
    """Draws the fields of a problem's instances that a distribution does not draw."""

    def __call__(
        self, known: Mapping[str, Tensor], generator: torch.Generator | None
    ) -> Mapping[str, Tensor]:
        """Return further fields of ``B`` instances, ``[B, ...]``, on the generator's device.

        ``known`` has the fields that the distribution has drawn: ``nodes [B, n, 2]`` and, if the
        instances have them, ``depot [B, 1, 2]`` and ``demand [B, n]`` in fractions of the capacity.
        A field of the result replaces a known one of its name.
        """


@attrs.define(eq=False)
class LearnerState:
    """Where the loop stands (task, epoch and batch, from 0), and what a method may read and use."""

    problem: Problem
    solver: Solver
    optimizer: torch.optim.Optimizer
    initial: dict[str, Tensor]
    """The parameters before the first task."""
    tasks: Sequence[Any]
    """All tasks (`tasks.Task`), in the order of arrival."""
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

        It has ``size`` instances; None: as many as the task has at this step.
        """
        return self.stream.batch(task, self.step_of(task) if step is None else step, size)

    def step_of(self, task: int) -> int:
        """Return the finished steps of the present task, or all steps of any other task."""
        its = self.tasks[task]
        present = self.epoch * its.batches + self.batch
        return int(present if task == self.task else its.epochs * its.batches)

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
    before_epoch: Callable[[LearnerState], None] = _nothing
    batches: Callable[[LearnerState], int] = _batches_of_task
    """The number of batches of the present epoch."""
    instances: Callable[[LearnerState], Any] = _fresh
    """Chooses the batch to train on."""
    observer: Callable[[LearnerState, Any], Observer | None] = _no_observer
    """Observes the decoding steps of the rollout on these instances."""
    loss_terms: Callable[[LearnerState, Rollout], Iterable[tuple[str, Tensor]]] = _no_terms
    """Yields pairs of a name and a scalar that is added to ``L_DRL``.

    The loop differentiates each term when it arrives, after ``L_DRL``, and so frees its memory
    before the next one. So terms must share no graph with each other or with the rollout.
    """
    after_step: Callable[[LearnerState], None] = _nothing
    after_epoch: Callable[[LearnerState], None] = _nothing
    after_task: Callable[[LearnerState], None] = _nothing
    adopt: Callable[[LearnerState, Mapping[str, Any]], None] = _no_buffer
    """Takes over the experiences in the `state_dict` of another run's method; called first."""
    state_dict: Callable[[], dict[str, Any]] = dict
    load_state_dict: Callable[[LearnerState, Mapping[str, Any]], None] = _nothing_to_load


class Logger(Protocol):
    """Gets the losses of every epoch and the costs of every test of a run, once each."""

    def start(self, epochs: Sequence[Mapping[str, Any]], tests: Sequence[Any]) -> None:
        """Begin with what the run has learned so far: nothing, or on a resume the saved part.

        Afterwards the output must hold exactly these; a killed run may have logged more.
        ``epochs`` are as in `epoch`, ``tests`` as in `tests`.
        """

    def epoch(self, entry: Mapping[str, Any]) -> None:
        """Log an epoch: a line of ``log.jsonl``.

        ``learning`` and ``epoch`` count from 1, ``losses`` maps names to means over the epoch,
        ``train_cost`` is the mean training cost, ``seconds`` the time of the epoch.
        """

    def tests(self, rows: Sequence[Any]) -> None:
        """Log tests: rows of ``costs.csv`` (`runs.costs.Cost`)."""

    def close(self) -> None:
        """Finish, when the run ends or is stopped."""
