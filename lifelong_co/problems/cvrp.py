"""The capacitated vehicle routing problem: routes from one depot, none above the capacity.

==========  ======================================================================
instance    ``depot`` float ``[B, 1, 2]``, ``nodes`` ``[B, n, 2]``, ``demand`` ``[B, n]`` in
            fractions of the capacity, each in ``[0, 1]``; ``distance`` if it is not Euclidean
action      the depot (0) or a customer (1 … n), ``A = n + 1``
state       ``current`` long ``[B, S]``, ``load`` float ``[B, S]`` in ``[0, 1]``,
            ``visited`` bool ``[B, S, A]`` (entry 0: at the depot)
feasible    unvisited customers that fit the load; the depot, unless already there
cost        length of all routes
==========  ======================================================================
"""

from typing import ClassVar

import attrs
import torch
from torch import Tensor

from lifelong_co.problems.batch_checks import require_action
from lifelong_co.problems.distances import EUCLIDEAN, EXPONENTS, exponents
from lifelong_co.problems.geometry import all_true, closed_length, symmetries
from lifelong_co.problems.validation import coordinates, fractions, refuse_where, same_kind
from lifelong_co.protocols import Context
from lifelong_co.tensors.records import ABSENT

# Sums of float32 fractions such as 1/30 miss the capacity by rounding. The official code has the
# same tolerance.
ROUNDING = 1e-5


@attrs.frozen(eq=False)
class CVRPInstances:
    """A batch of instances; see the module for shapes and units."""

    depot: Tensor  # [B, 1, 2]
    nodes: Tensor  # [B, n, 2]
    demand: Tensor  # [B, n], fractions of the capacity
    distance: Tensor | None = attrs.field(default=None, metadata={ABSENT: EXPONENTS[EUCLIDEAN]})
    """``[B]``, the exponent p of each instance's distance (`distances`); None: all Euclidean."""


@attrs.frozen(eq=False)
class CVRPState:
    """The partial routes of ``S`` trajectories per instance."""

    current: Tensor  # long [B, S]
    load: Tensor  # [B, S], the capacity left, as a fraction
    visited: Tensor  # bool [B, S, A]


@attrs.frozen
class CVRP:
    """The capacitated vehicle routing problem; see the module for shapes."""

    name: ClassVar[str] = "cvrp"
    instances_type: ClassVar[type] = CVRPInstances
    state_type: ClassVar[type] = CVRPState
    feature_dims: ClassVar[dict[str, int]] = {"depot": 2, "node": 3}
    context_nodes: ClassVar[tuple[str, ...]] = ("last",)
    context_scalars: ClassVar[int] = 1

    def instances(
        self, *, depot: object, nodes: object, demand: object, distance: str = EUCLIDEAN
    ) -> CVRPInstances:
        """Check and wrap a batch of instances.

        Parameters
        ----------
        depot
            Float ``[B, 1, 2]``.
        nodes
            Float ``[B, n, 2]``, ``n >= 2``; solvers expect them in the unit square.
        demand
            Float ``[B, n]`` in fractions of the capacity, each in ``[0, 1]``.
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
        B, n, _ = node_xy.shape
        depot_xy = fractions("depot", depot, (B, 1, 2))
        fraction = fractions("demand", demand, (B, n))
        same_kind(("nodes", node_xy), depot=depot_xy, demand=fraction)
        refuse_where("demand: expected at least 0", fraction, fraction < 0, "customer")
        refuse_where(
            "demand: expected fractions of the capacity, at most 1 (none above the capacity)",
            fraction,
            fraction > 1 + ROUNDING,
            "customer",
        )
        return CVRPInstances(
            depot=depot_xy,
            nodes=node_xy,
            demand=fraction,
            distance=exponents(distance, node_xy),
        )

    def reset(self, instances: CVRPInstances, trajectories: int) -> CVRPState:
        """Return the state before the first action: at the depot with a full load."""
        B, n, _ = instances.nodes.shape
        visited = torch.zeros(
            (B, trajectories, n + 1), dtype=torch.bool, device=instances.nodes.device
        )
        visited[..., 0] = True
        return CVRPState(
            current=torch.zeros((B, trajectories), dtype=torch.long, device=visited.device),
            load=torch.ones_like(instances.demand[:, :1]).expand(B, trajectories),
            visited=visited,
        )

    def feasible(self, instances: CVRPInstances, state: CVRPState) -> Tensor:
        """Return bool ``[B, S, A]``; in a finished state only the depot is feasible."""
        fits = instances.demand[:, None, :] <= state.load[..., None] + ROUNDING  # [B, S, n]
        feasible = ~state.visited
        feasible[..., 1:] &= fits
        feasible[..., 0] |= all_true(state.visited)
        return feasible

    def strictly_feasible(self, instances: CVRPInstances, state: CVRPState) -> Tensor:
        """Return bool ``[B, S, A]``: only customers after which some load is left.

        In a state where this leaves no action, the result is that of `feasible`: at the depot,
        when every customer left demands the whole capacity.
        """
        feasible = self.feasible(instances, state)
        spares = instances.demand[:, None, :] < state.load[..., None] - ROUNDING  # [B, S, n]
        strict = torch.cat((feasible[..., :1], feasible[..., 1:] & spares), dim=2)
        return torch.where(strict.any(dim=2, keepdim=True), strict, feasible)

    def unfinished(self, state: CVRPState) -> Tensor:
        """Return bool ``[B, S, A]``: the customers not visited yet."""
        return torch.cat((torch.zeros_like(state.visited[..., :1]), ~state.visited[..., 1:]), dim=2)

    def step(self, instances: CVRPInstances, state: CVRPState, action: Tensor) -> CVRPState:
        """Drive to ``action`` long ``[B, S]``; the depot refills the load."""
        require_action(action, state.current, len(instances.demand))
        at_depot = action == 0
        demand = instances.demand.gather(1, (action - 1).clamp(min=0))
        visited = state.visited.scatter(2, action[..., None], True)
        visited[..., 0] = at_depot
        return CVRPState(
            current=action,
            load=torch.where(at_depot, 1.0, state.load - demand),
            visited=visited,
        )

    def done(self, instances: CVRPInstances, state: CVRPState) -> Tensor:  # noqa: ARG002
        """Return bool ``[B, S]``: whether every customer is visited and the depot reached again."""
        return all_true(state.visited)

    def cost(self, instances: CVRPInstances, actions: Tensor) -> Tensor:
        """Return the length of all routes ``[B, S]`` of ``actions`` long ``[B, S, T]``.

        Actions begin or end at the depot (0): the last leg leads back to the first visit.
        """
        points = torch.cat((instances.depot, instances.nodes), dim=1)
        return closed_length(points, actions, instances.distance)

    def size(self, instances: CVRPInstances) -> int:
        """Return ``n``."""
        return instances.nodes.shape[1]

    def steps(self, size: int) -> tuple[int, int]:
        """Return the least and the greatest number of actions of a solution.

        The least: one route of depot, customers, depot. The greatest: one route for each customer,
        which visits the depot before every customer and at the end.
        """
        return size + 2, 2 * size + 1

    def starts(self, instances: CVRPInstances, trajectories: int) -> tuple[Tensor, ...]:
        """Return the forced first actions of POMO's multi-start, each long ``[B, S]``."""
        B, n, _ = instances.nodes.shape
        node = torch.arange(trajectories, device=instances.nodes.device) % n
        return (node.new_zeros(B, trajectories), (node + 1).expand(B, -1))

    def augment(self, instances: CVRPInstances) -> CVRPInstances:
        """Return the eight symmetric images of every instance, ``B -> 8B``."""
        return CVRPInstances(
            depot=symmetries(instances.depot),
            nodes=symmetries(instances.nodes),
            demand=instances.demand.repeat(8, 1),
            distance=None if instances.distance is None else instances.distance.repeat(8),
        )

    def features(self, instances: CVRPInstances) -> dict[str, Tensor]:
        """Return the features of the actions: depot ``[B, 1, 2]`` and nodes ``[B, n, 3]``."""
        customers = torch.cat((instances.nodes, instances.demand[..., None]), dim=2)
        return {"depot": instances.depot, "node": customers}

    def context(self, state: CVRPState) -> Context:
        """Return the part of a state that a network reads: the last node and the load."""
        return Context(nodes={"last": state.current}, scalars=state.load[..., None])
