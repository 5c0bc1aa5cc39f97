"""For authors of problems: instances, states and the rules."""

from typing import Any, Protocol

import attrs
from torch import Tensor


class Instances(Protocol):
    """A batch of ``B`` instances, as a record.

    A further field in the unit of the coordinates has the metadata ``{records.LENGTH: True}``
    (`tensors.records`). It is scaled with them where a file's coordinates are not in the unit
    square.

    An optional field is None by default and has the metadata ``{records.ABSENT: value}``. Where
    instances with and without it are joined, None becomes this value.
    """

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
    """Roles of `Context.nodes`. POMO and Omni need ``last``: they read the scalars with it. INViT
    needs ``last`` only, or without a depot ``first`` and ``last``."""
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
        """Return the cost ``[B, S]`` of ``actions``, long ``[B, S, T]``; lower is better.

        Costs are at least 0. Their mean over test instances is above 0: gaps are divided by it.
        """

    def size(self, instances: Any) -> int:
        """Return the number of nodes ``n``."""

    def steps(self, size: int) -> tuple[int, int]:
        """Return the lowest and the highest possible ``T`` for ``n = size``."""

    def starts(self, instances: Any, trajectories: int) -> tuple[Tensor, ...]:
        """Return the forced first actions of a multi-start, each long ``[B, S]``.

        Each is feasible, or the present node, such as the depot at the beginning.
        """

    def augment(self, instances: Any) -> Any:
        """Return ``8 B`` instances: row ``k * B + b`` is the ``k``-th image of instance ``b``."""

    def features(self, instances: Any) -> dict[str, Tensor]:
        """Return float ``[B, *, dim]`` for each kind of action, in the order of `feature_dims`.

        Joined in this order they are the actions ``0 … A - 1``. The first kind is ``depot``, if
        there is one. The first two numbers are coordinates; INViT reads them.
        """

    def context(self, state: Any) -> Context:
        """Return the part of a state that a network reads."""
