"""The traveling salesman problem: visit every node once and return to the first.

==========  ======================================================================
instance    ``nodes`` float ``[B, n, 2]``; ``distance`` if it is not Euclidean
action      the node visited next, ``A = n``
state       ``first``, ``current`` long ``[B, S]`` (-1: no node yet), ``visited`` bool ``[B, S, A]``
feasible    the nodes not visited yet
cost        length of the closed tour
==========  ======================================================================
"""

from typing import ClassVar

import attrs
import torch
from torch import Tensor

from lifelong_co.problems.batch_checks import require_action
from lifelong_co.problems.distances import EUCLIDEAN, EXPONENTS, exponents
from lifelong_co.problems.geometry import all_true, closed_length, symmetries
from lifelong_co.problems.validation import coordinates
from lifelong_co.protocols import Context
from lifelong_co.tensors.records import ABSENT


@attrs.frozen(eq=False)
class TSPInstances:
    """A batch of instances: ``nodes`` float ``[B, n, 2]``."""

    nodes: Tensor
    distance: Tensor | None = attrs.field(default=None, metadata={ABSENT: EXPONENTS[EUCLIDEAN]})
    """``[B]``, the exponent p of each instance's distance (`distances`); None: all Euclidean."""


@attrs.frozen(eq=False)
class TSPState:
    """The partial tours of ``S`` trajectories per instance."""

    first: Tensor  # long [B, S], -1 before the first action
    current: Tensor  # long [B, S], -1 before the first action
    visited: Tensor  # bool [B, S, A]


@attrs.frozen
class TSP:
    """The traveling salesman problem; see the module for shapes."""

    name: ClassVar[str] = "tsp"
    instances_type: ClassVar[type] = TSPInstances
    state_type: ClassVar[type] = TSPState
    feature_dims: ClassVar[dict[str, int]] = {"node": 2}
    context_nodes: ClassVar[tuple[str, ...]] = ("first", "last")
    context_scalars: ClassVar[int] = 0

    def instances(self, *, nodes: object, distance: str = EUCLIDEAN) -> TSPInstances:
        """Check and wrap a batch of instances.

        Parameters
        ----------
        nodes
            Float ``[B, n, 2]``, ``n >= 2``; solvers expect them in the unit square.
        distance
            ``euclidean``, ``manhattan`` or ``chebyshev``.

        Raises
        ------
        InvalidInstancesError
            If shape, dtype or values are wrong.
        UnknownNameError
            If the distance has another name.
        """
        node_xy = coordinates("nodes", nodes)
        return TSPInstances(nodes=node_xy, distance=exponents(distance, node_xy))

    def reset(self, instances: TSPInstances, trajectories: int) -> TSPState:
        """Return the state before the first action: at no node, with no node visited."""
        B, n, _ = instances.nodes.shape
        nowhere = torch.full((B, trajectories), -1, device=instances.nodes.device)
        visited = torch.zeros((B, trajectories, n), dtype=torch.bool, device=instances.nodes.device)
        return TSPState(first=nowhere, current=nowhere, visited=visited)

    def feasible(self, instances: TSPInstances, state: TSPState) -> Tensor:  # noqa: ARG002
        """Return bool ``[B, S, A]``: the nodes not visited yet."""
        return ~state.visited

    def strictly_feasible(self, instances: TSPInstances, state: TSPState) -> Tensor:
        """Return the same as `feasible`: the TSP has no capacity that a visit uses up."""
        return self.feasible(instances, state)

    def unfinished(self, state: TSPState) -> Tensor:
        """Return bool ``[B, S, A]``: the nodes not visited yet."""
        return ~state.visited

    def step(self, instances: TSPInstances, state: TSPState, action: Tensor) -> TSPState:
        """Visit node ``action`` long ``[B, S]``."""
        require_action(action, state.current, len(instances.nodes))
        return visit(state, action)

    def done(self, instances: TSPInstances, state: TSPState) -> Tensor:  # noqa: ARG002
        """Return bool ``[B, S]``: whether every node has been visited."""
        return all_true(state.visited)

    def cost(self, instances: TSPInstances, actions: Tensor) -> Tensor:
        """Return the tour length ``[B, S]`` of ``actions`` long ``[B, S, T]``."""
        return closed_length(instances.nodes, actions, instances.distance)

    def size(self, instances: TSPInstances) -> int:
        """Return ``n``."""
        return instances.nodes.shape[1]

    def steps(self, size: int) -> tuple[int, int]:
        """Return the least and the greatest number of actions of a solution."""
        return size, size

    def starts(self, instances: TSPInstances, trajectories: int) -> tuple[Tensor, ...]:
        """Return the forced first actions of POMO's multi-start, each long ``[B, S]``."""
        B, n, _ = instances.nodes.shape
        node = torch.arange(trajectories, device=instances.nodes.device) % n
        return (node.expand(B, -1),)

    def augment(self, instances: TSPInstances) -> TSPInstances:
        """Return the eight symmetric images of every instance, ``[8B, n, 2]``."""
        distance = None if instances.distance is None else instances.distance.repeat(8)
        return TSPInstances(nodes=symmetries(instances.nodes), distance=distance)

    def features(self, instances: TSPInstances) -> dict[str, Tensor]:
        """Return the features of the actions: the nodes' coordinates ``[B, n, 2]``."""
        return {"node": instances.nodes}

    def context(self, state: TSPState) -> Context:
        """Return the part of a state that a network reads: the first and the last node."""
        return ends(state)


def visit(state: TSPState, action: Tensor) -> TSPState:
    """Return the state after a visit to node ``action`` long ``[B, S]``."""
    return TSPState(
        first=torch.where(state.first < 0, action, state.first),
        current=action,
        visited=state.visited.scatter(2, action[..., None], True),
    )


def ends(state: TSPState) -> Context:
    """Return the first and the last node of the partial tours."""
    first, last = state.first.clamp(min=0), state.current.clamp(min=0)
    return Context(nodes={"first": first, "last": last}, nowhere=state.current < 0)
