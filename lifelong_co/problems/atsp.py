"""The asymmetric TSP: visit every node once and return to the first, by a matrix of distances.

==========  ======================================================================
instance    ``matrix`` float ``[B, n, n]``: entry ``[i, j]`` is the distance from ``i`` to ``j``
action      the node visited next, ``A = n``
state       that of the TSP
feasible    the nodes not visited yet
cost        length of the closed tour
==========  ======================================================================

There are no coordinates. A solver reads ``matrix`` itself. A network that needs features of each
node, such as POMO, is built for ``ATSP(embed, width)`` with features made of the matrix.
"""

from collections.abc import Callable
from typing import ClassVar

import attrs
import torch
from torch import Tensor

from lifelong_co.errors import ConfigError, InvalidInstancesError
from lifelong_co.problems.batch_checks import require_action, require_actions
from lifelong_co.problems.geometry import all_true
from lifelong_co.problems.images import IMAGES
from lifelong_co.problems.tsp import TSP, TSPState, ends, visit
from lifelong_co.problems.validation import fractions, refuse_where, shaped
from lifelong_co.protocols import Context
from lifelong_co.tensors.records import LENGTH


@attrs.frozen(eq=False)
class ATSPInstances:
    """A batch of instances."""

    matrix: Tensor = attrs.field(metadata={LENGTH: True})
    """``[B, n, n]``, distances from the row's node to the column's; the diagonal is 0."""


@attrs.frozen
class ATSP:
    """The asymmetric traveling salesman problem; see the module for shapes."""

    embed: Callable[[Tensor], Tensor] | None = None
    """Features of the nodes: ``[B, n, n] -> [B, n, width]``. None: there are none."""
    width: int = 0
    """Width of the features."""

    name: ClassVar[str] = "atsp"
    instances_type: ClassVar[type] = ATSPInstances
    state_type: ClassVar[type] = TSPState
    context_nodes: ClassVar[tuple[str, ...]] = TSP.context_nodes
    context_scalars: ClassVar[int] = TSP.context_scalars

    @property
    def feature_dims(self) -> dict[str, int]:
        """Width of the nodes' features; empty without `embed`."""
        return {} if self.embed is None else {"node": self.width}

    def instances(self, *, matrix: object) -> ATSPInstances:
        """Check and wrap a batch of instances.

        Parameters
        ----------
        matrix
            Float ``[B, n, n]``, ``n >= 2``, each at least 0. The diagonal may have any numbers;
            it is set to 0.

        Raises
        ------
        InvalidInstancesError
            If shape, dtype or values are wrong.
        """
        given = shaped("matrix", matrix, ("B", "n", "n"))
        if given.shape[1] != given.shape[2] or given.shape[1] < 2:
            shown = list(given.shape)
            raise InvalidInstancesError(
                f"matrix: expected [B, n, n] with n at least 2, got {shown}"
            )
        itself = torch.eye(given.shape[1], dtype=torch.bool, device=given.device)
        checked = fractions("matrix", given.masked_fill(itself, 0.0), ("B", "n", "n"))
        refuse_where("matrix: expected distances of at least 0", checked, checked < 0)
        return ATSPInstances(matrix=checked)

    def reset(self, instances: ATSPInstances, trajectories: int) -> TSPState:
        """Return the state before the first action: at no node."""
        B, n, _ = instances.matrix.shape
        shape, here = (B, trajectories), instances.matrix.device
        nowhere = torch.full(shape, -1, device=here)
        visited = torch.zeros((*shape, n), dtype=torch.bool, device=here)
        return TSPState(first=nowhere, current=nowhere, visited=visited)

    def feasible(self, instances: ATSPInstances, state: TSPState) -> Tensor:  # noqa: ARG002
        """Return bool ``[B, S, A]``: the nodes not visited yet."""
        return ~state.visited

    def strictly_feasible(self, instances: ATSPInstances, state: TSPState) -> Tensor:
        """Return the same as `feasible`."""
        return self.feasible(instances, state)

    def unfinished(self, state: TSPState) -> Tensor:
        """Return bool ``[B, S, A]``: the nodes not visited yet."""
        return ~state.visited

    def step(self, instances: ATSPInstances, state: TSPState, action: Tensor) -> TSPState:
        """Visit node ``action`` long ``[B, S]``."""
        require_action(action, state.current, len(instances.matrix))
        return visit(state, action)

    def done(self, instances: ATSPInstances, state: TSPState) -> Tensor:  # noqa: ARG002
        """Return bool ``[B, S]``: whether every node has been visited."""
        return all_true(state.visited)

    def cost(self, instances: ATSPInstances, actions: Tensor) -> Tensor:
        """Return the tour length ``[B, S]`` of ``actions`` long ``[B, S, T]``."""
        require_actions(actions, len(instances.matrix))
        B, S, T = actions.shape
        n = instances.matrix.shape[1]
        legs = actions * n + actions.roll(-1, dims=2)  # where a leg is in the flattened matrix
        lengths = instances.matrix.flatten(1).gather(1, legs.reshape(B, S * T))
        return lengths.view(B, S, T).sum(dim=2)

    def size(self, instances: ATSPInstances) -> int:
        """Return ``n``."""
        return instances.matrix.shape[1]

    def steps(self, size: int) -> tuple[int, int]:
        """Return the least and the greatest number of actions of a solution."""
        return size, size

    def starts(self, instances: ATSPInstances, trajectories: int) -> tuple[Tensor, ...]:
        """Return the forced first actions of a multi-start, each long ``[B, S]``."""
        B, n, _ = instances.matrix.shape
        node = torch.arange(trajectories, device=instances.matrix.device) % n
        return (node.expand(B, -1),)

    def augment(self, instances: ATSPInstances) -> ATSPInstances:
        """Return eight equal images of every instance, ``B -> 8B``.

        A matrix has no symmetries of the plane. Equal images keep the contract: a run with
        augmentation is right, and gains nothing.
        """
        return ATSPInstances(matrix=instances.matrix.repeat(IMAGES, 1, 1))

    def features(self, instances: ATSPInstances) -> dict[str, Tensor]:
        """Return the features of the nodes ``[B, n, width]``.

        Raises
        ------
        ConfigError
            If the problem has no `embed`.
        """
        if self.embed is None:
            raise ConfigError(
                "atsp: expected a solver that reads the matrix of distances, got one that needs"
                " features of nodes; ATSP(embed, width) makes them of the matrix"
            )
        return {"node": self.embed(instances.matrix)}

    def context(self, state: TSPState) -> Context:
        """Return the part of a state that a network reads: the first and the last node."""
        return ends(state)
