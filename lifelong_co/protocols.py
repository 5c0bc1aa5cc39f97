"""Every contract between the parts of lifelong-co; each tensor's shape is written here once.

Sizes: ``B`` instances, ``n`` nodes, ``S`` trajectories per instance, ``A`` actions (``n`` for the
TSP, ``n + 1`` for the CVRP with the depot at 0), ``T`` actions of a solution. A *record* is a
frozen attrs class whose fields are tensors that share their first dimension (`records`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

import attrs
import torch
from torch import Tensor, nn

from lifelong_co.errors import ConfigError

Decode = Literal["greedy", "sample"]
X = TypeVar("X")


class Instances(Protocol):
    """A batch of ``B`` instances; a record."""

    @property
    def nodes(self) -> Tensor:
        """Coordinates, float ``[B, n, 2]``."""


class State(Protocol):
    """The partial solution of every trajectory; a record of ``[B, S, ...]``."""

    @property
    def current(self) -> Tensor:
        """The node visited last, long ``[B, S]``; -1 where there is none."""


@attrs.frozen(eq=False)
class Context:
    """What a network reads of a state."""

    nodes: dict[str, Tensor]
    """Role to node index, long ``[B, S]``; any valid index where `nowhere`."""
    scalars: Tensor | None = None
    """Float ``[B, S, k]``, or None when ``k = 0``."""
    nowhere: Tensor | None = None
    """Bool ``[B, S]``: no node visited yet, so there is nothing to decide from; None: never."""


class Problem(Protocol):
    """Instances, states and costs of one routing problem; records of its types go in and out.

    No method but `instances` may wait for the device.
    """

    name: str
    """The registered name."""
    instances_type: type[Any]
    """Its record of instances, `Instances`."""
    state_type: type[Any]
    """Its record of a state, `State`."""
    feature_dims: dict[str, int]
    """Width of each tensor of `features`."""
    context_nodes: tuple[str, ...]
    """Roles of `Context.nodes`."""
    context_scalars: int
    """``k`` of `Context.scalars`."""

    def instances(self, **fields: Any) -> Any:
        """Check and wrap tensors; raise `InvalidInstancesError` naming the bad field."""

    def reset(self, instances: Any, trajectories: int) -> Any:
        """Return the state of ``S = trajectories`` empty solutions."""

    def feasible(self, instances: Any, state: Any) -> Tensor:
        """Return bool ``[B, S, A]``."""

    def strictly_feasible(self, instances: Any, state: Any) -> Tensor:
        """Return bool ``[B, S, A]``: `feasible`, less what leaves nothing, if that leaves any."""

    def unfinished(self, state: Any) -> Tensor:
        """Return bool ``[B, S, A]``: the nodes still to visit, now or later; never a depot."""

    def step(self, instances: Any, state: Any, action: Tensor) -> Any:
        """Return the state after ``action`` long ``[B, S]``."""

    def done(self, instances: Any, state: Any) -> Tensor:
        """Return bool ``[B, S]``."""

    def cost(self, instances: Any, actions: Tensor) -> Tensor:
        """Return the cost ``[B, S]`` of ``actions`` long ``[B, S, T]``."""

    def size(self, instances: Any) -> int:
        """Return ``n``."""

    def steps(self, size: int) -> tuple[int, int]:
        """Return the least and greatest ``T`` for ``n = size``."""

    def starts(self, instances: Any, trajectories: int) -> tuple[Tensor, ...]:
        """Return the forced first actions of a multi-start, each long ``[B, S]``."""

    def augment(self, instances: Any) -> Any:
        """Return ``8 B`` instances: row ``k * B + b`` is image ``k`` of instance ``b``."""

    def features(self, instances: Any) -> dict[str, Tensor]:
        """Return float ``[B, *, dim]`` per kind of action; joined, they run over all ``A``."""

    def context(self, state: Any) -> Context:
        """Return what a network reads of a state."""


Observer = Callable[[Any, Tensor], None]
"""Called with ``(state, log_probs [B, S, A])`` at each decoding step that is not forced."""


@attrs.frozen(eq=False)
class Rollout:
    """Solutions of a batch."""

    actions: Tensor
    """Long ``[B, S, T]``, forced ones included."""
    cost: Tensor
    """``[B, S]``, in the unit of the coordinates."""
    log_likelihood: Tensor
    """``[B, S]``: the sum of the log-probabilities of the actions taken; differentiable."""


@runtime_checkable
class Solver(Protocol):
    """A neural routing solver: a policy without memory beyond the state."""

    @property
    def problem(self) -> Problem:
        """The problem it solves."""

    @property
    def module(self) -> nn.Module:
        """Its parameters."""

    def encode(self, instances: Any) -> Any:
        """Return whatever `log_probs` needs of the instances; once per batch."""

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Return ``[B, S, A]``: log-probabilities, -inf where infeasible; differentiable."""

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

        The default is the solver's: ``n`` for POMO, 1 for INViT. An observer may keep what it is
        shown: a loop that writes the next step into the same memory shows copies.
        """

    def objective(self) -> "Objective":
        """Return a fresh ``L_DRL`` (paper §3, eq. 2) and what it needs between the steps."""

    def load_official(self, state_dict: Mapping[str, Tensor]) -> None:
        """Load parameters under the official code's names and shapes."""


Weighting = Callable[[Tensor], Tensor]
"""``w(e)`` of the teacher's behavior: probs ``[..., A] -> [...]``, un-normalised, at least 0.

A function of the behavior and nothing else: an experience is weighed once.
"""

Divergence = Callable[[Tensor, Tensor], Tensor]
"""``D(e)`` per state: teacher and learner log-probs ``[..., A] x [..., A] -> [...]``.

Both are -inf on infeasible actions; the gradient there must be zero, not NaN. A teacher may be -inf
where the learner is finite, and the other way round: INViT sees the nearest nodes only, and a
buffer can come from another solver.
"""


class ConsolidationLoss(Protocol):
    """``L_BC``, eq. 1 of the paper."""

    def __call__(self, teachers: Sequence[Tensor], learners: Sequence[Tensor]) -> Tensor:
        """Return a scalar from two lists of log-probs ``[B, S, A]``, one entry a unit."""

    def raw_weights(self, teacher: Tensor) -> Tensor:
        """Return what one unit's states weigh alone, ``[B, S]``, at least 0; it never changes."""

    def normalise(self, raw: Sequence[Tensor]) -> list[Tensor]:
        """Return raw weights ``[B, S]`` per unit normalised: over all units they sum to 1."""

    def unit(self, weights: Tensor, teacher: Tensor, learner: Tensor) -> Tensor:
        """Return one unit's share of the loss; `__call__` is the sum over the units."""


class Experience(Protocol):
    """One decoding step of one batch: a state and the behavior the solver had there."""

    @property
    def task(self) -> int:
        """Index of the task it was recorded on."""

    @property
    def instances(self) -> Any:
        """The batch's instances (shared by all experiences of the batch)."""

    def state(self, rows: Tensor | slice = slice(None)) -> Any:
        """Return the state of the chosen instances (default all)."""

    def log_probs(self, rows: Tensor | slice = slice(None)) -> Tensor:
        """Return the behavior ``P`` there as log-probabilities ``[B, S, A]``."""


class Buffer(Protocol[X]):
    """A store of fixed capacity for anything."""

    @property
    def capacity(self) -> int:
        """The most items it holds."""

    @property
    def seen(self) -> int:
        """How many items were offered to it so far."""

    def admit(self) -> int | None:
        """Count an offer and return its slot, or None if rejected. Several may precede a `put`."""

    def put(self, slot: int, item: X) -> None:
        """Store an admitted item. Items are put in the order in which they were admitted."""

    def add(self, item: X) -> None:
        """Offer an item: `admit`, then `put`."""

    def sample(self, k: int) -> list[X]:
        """Return ``min(k, len)`` items, drawn uniformly without replacement."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[X]: ...

    def state_dict(self) -> dict[str, Any]:
        """Return all of it, the random stream included."""

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore `state_dict`."""


class Distribution(Protocol):
    """A distribution of instances of one problem."""

    def sample(self, batch: int, size: int, *, generator: torch.Generator | None = None) -> Any:
        """Return ``B = batch`` instances of ``n = size`` on the generator's device."""


@attrs.define(eq=False)
class LearnerState:
    """Where the lifelong loop stands; what a method may see and use."""

    problem: Problem
    solver: Solver
    optimizer: torch.optim.Optimizer
    initial: dict[str, Tensor]
    """The parameters before the first task."""
    tasks: Sequence[Any]
    """All tasks (`tasks.Task`), in the order of arrival."""
    stream: Any
    """Where training batches come from (`tasks.TaskStream`); methods call `draw`."""
    seed: int = 0
    """`seeding` derives streams from it: the run's, and another in each further process."""
    schedule_seed: int = 0
    """Seed of what all processes must decide alike: the run's, in each."""
    processes: int = 1
    """How many learn the run together, each on its share of every batch (`data_parallel`)."""
    task: int = 0
    epoch: int = 0
    batch: int = 0

    def draw(self, task: int, step: int | None = None) -> Any:
        """Return a fresh training batch of a task, at a step of its budget; None: `step_of`."""
        return self.stream.batch(task, self.step_of(task) if step is None else step)

    def step_of(self, task: int) -> int:
        """Return how many steps of its budget a task has had; all, if it is not the present one."""
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
    """What a solver learns by; every function but `loss` defaults to doing nothing.

    `reinforce` has POMO's, ``shared_baseline()``, and INViT's, ``greedy_baseline(solver)``.
    """

    loss: Callable[[Any, Rollout], Tensor]
    """``L_DRL`` of a sampled rollout of these instances, a differentiable scalar."""
    before_task: Callable[[LearnerState], None] = _nothing
    after_epoch: Callable[[LearnerState], None] = _nothing
    state_dict: Callable[[], dict[str, Any]] = dict
    load_state_dict: Callable[[LearnerState, Mapping[str, Any]], None] = _nothing_to_load


def _fresh(learner: LearnerState) -> Any:
    return learner.draw(learner.task)


def _no_observer(learner: LearnerState, instances: Any) -> Observer | None:  # noqa: ARG001
    return None


def _no_terms(learner: LearnerState, rollout: Rollout) -> Iterable[tuple[str, Tensor]]:  # noqa: ARG001
    return ()


@attrs.frozen(eq=False, kw_only=True)
class Method:
    """A lifelong-learning strategy: functions that the loop calls; each defaults to doing nothing.

    Fine-tuning is ``Method()``. State lives in the closure or object the functions belong to and
    travels through `state_dict` (nested dicts and lists of tensors and JSON values).
    """

    knows_all_tasks: bool = False
    """Whether it learns all tasks at once: a reference. Of its metrics only AP has a meaning."""
    restarts: bool = False
    """Whether every task is learned as if it were the first: `before_task` forgets the others, the
    loop puts the random streams back, and during a task only this task is tested."""
    before_task: Callable[[LearnerState], None] = _nothing
    before_epoch: Callable[[LearnerState], None] = _nothing
    instances: Callable[[LearnerState], Any] = _fresh
    """Chooses the batch to train on."""
    observer: Callable[[LearnerState, Any], Observer | None] = _no_observer
    """Observes the decoding steps of the rollout on these instances."""
    loss_terms: Callable[[LearnerState, Rollout], Iterable[tuple[str, Tensor]]] = _no_terms
    """Yields named scalars that are added to ``L_DRL``.

    Each is differentiated as it arrives, after ``L_DRL``, so that its memory is free before the
    next is computed: terms share no graph with each other or with the rollout.
    """
    after_step: Callable[[LearnerState], None] = _nothing
    after_epoch: Callable[[LearnerState], None] = _nothing
    after_task: Callable[[LearnerState], None] = _nothing
    adopt: Callable[[LearnerState, Mapping[str, Any]], None] = _no_buffer
    """Takes over the experiences in the `state_dict` of another run's method; before all else."""
    state_dict: Callable[[], dict[str, Any]] = dict
    load_state_dict: Callable[[LearnerState, Mapping[str, Any]], None] = _nothing_to_load
