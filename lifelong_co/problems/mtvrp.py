"""The multi-task VRP: a CVRP with any combination of four attributes, so 16 variants.

Sources: Liu et al. 2024 (arXiv 2402.16891), MVMoE (Zhou et al. 2024, arXiv 2405.01029) and
RouteFinder (Berto et al. 2024, arXiv 2406.15007). Where they differ, RouteFinder is followed.

==========  ======================================================================
instance    `MTVRPInstances`: a CVRP with ``pickup``, ``windows``, ``service``, ``horizon``,
            ``limit`` and ``open``
action      the depot (0) or a customer (1 … n), ``A = n + 1``
state       that of the CVRP, and of the present route the pickup on board, the time and the
            length, each float ``[B, S]``
feasible    unvisited customers that the route can serve and still end in time and within its
            limit; the depot, unless already there
cost        length of all routes; an open route ends at its last customer
==========  ======================================================================

In a route, linehaul customers come before backhaul customers, and each group is within the
capacity. A route may have backhaul customers only. The limit bounds the length of a route, not its
waiting and service times. Open routes neither count the way back nor return before the horizon.
"""

from typing import ClassVar

import attrs
import torch
from torch import Tensor

from lifelong_co.problems.batch_checks import require_action
from lifelong_co.problems.cvrp import ROUNDING
from lifelong_co.problems.distances import lengths
from lifelong_co.problems.geometry import all_true, closed_legs
from lifelong_co.problems.mtvrp_instances import MTVRPInstances, checked, images, refuse
from lifelong_co.problems.mtvrp_state import MTVRPState, at, in_order, reached
from lifelong_co.protocols import Context


@attrs.frozen
class MTVRP:
    """The multi-task vehicle routing problem; see the module for shapes."""

    name: ClassVar[str] = "mtvrp"
    instances_type: ClassVar[type] = MTVRPInstances
    state_type: ClassVar[type] = MTVRPState
    feature_dims: ClassVar[dict[str, int]] = {"depot": 5, "node": 7}
    context_nodes: ClassVar[tuple[str, ...]] = ("last",)
    context_scalars: ClassVar[int] = 5

    def instances(
        self,
        *,
        depot: object,
        nodes: object,
        demand: object,
        pickup: object = None,
        windows: object = None,
        service: object = None,
        horizon: object = None,
        limit: object = None,
        open: object = None,
    ) -> MTVRPInstances:
        """Check and wrap a batch of instances; an attribute that is not given is absent.

        Parameters
        ----------
        depot, nodes, demand
            As for the CVRP: ``[B, 1, 2]``, ``[B, n, 2]`` and ``[B, n]``, in ``[0, 1]``.
        pickup
            Backhauls: ``[B, n]``, in ``[0, 1]``; above 0 only for customers without demand.
        windows, service, horizon
            Time windows: ``[B, n, 2]``, ``[B, n]`` and ``[B]``, each at least 0. The latest times
            may be infinite. The horizon is finite if an instance has windows or service times.
        limit
            Limited routes: ``[B]``, at least 0; infinite: no limit.
        open
            Open routes: ``[B]``, 0 or 1.

        Raises
        ------
        InvalidInstancesError
            If shape, dtype or values are wrong, or a customer cannot be visited, even by a route
            to this customer only.
        """
        batch = checked(
            depot=depot,
            nodes=nodes,
            demand=demand,
            pickup=pickup,
            windows=windows,
            service=service,
            horizon=horizon,
            limit=limit,
            open=open,
        )
        # Half the tolerance: rounding in an image of the instance must not exclude a customer.
        in_time, short = reached(batch, self.reset(batch, 1), ROUNDING / 2)
        times = "windows: expected times at which a route can serve and be back at the horizon"
        refuse(times, batch, ~in_time[:, 0])
        refuse("limit: expected a length that reaches every customer", batch, ~short[:, 0])
        return batch

    def reset(self, instances: MTVRPInstances, trajectories: int) -> MTVRPState:
        """Return the state before the first action: at the depot with a full load, at time 0."""
        B, n, _ = instances.nodes.shape
        shape, here = (B, trajectories), instances.nodes.device
        visited = torch.zeros((*shape, n + 1), dtype=torch.bool, device=here)
        visited[..., 0] = True
        nothing = torch.zeros_like(instances.demand[:, :1]).expand(shape)
        return MTVRPState(
            current=torch.zeros(shape, dtype=torch.long, device=here),
            load=torch.ones_like(instances.demand[:, :1]).expand(shape),
            visited=visited,
            picked=nothing,
            time=nothing,
            length=nothing,
            open=instances.open[:, None].expand(shape),
        )

    def feasible(self, instances: MTVRPInstances, state: MTVRPState) -> Tensor:
        """Return bool ``[B, S, A]``; in a finished state only the depot is feasible."""
        delivers = instances.demand[:, None] <= state.load[..., None] + ROUNDING  # [B, S, n]
        collects = instances.pickup[:, None] <= 1 - state.picked[..., None] + ROUNDING
        in_time, short = reached(instances, state, ROUNDING)
        customers = delivers & collects & in_time & short & in_order(instances, state)
        customers &= ~state.visited[..., 1:]
        depot = ~state.visited[..., :1] | all_true(state.visited)[..., None]
        return torch.cat((depot, customers), dim=2)

    def strictly_feasible(self, instances: MTVRPInstances, state: MTVRPState) -> Tensor:
        """Return bool ``[B, S, A]``: only customers after which some capacity is left.

        In a state where this leaves no action, the result is that of `feasible`.
        """
        feasible = self.feasible(instances, state)
        spares = instances.demand[:, None] < state.load[..., None] - ROUNDING  # [B, S, n]
        spares &= instances.pickup[:, None] < 1 - state.picked[..., None] - ROUNDING
        strict = torch.cat((feasible[..., :1], feasible[..., 1:] & spares), dim=2)
        return torch.where(strict.any(dim=2, keepdim=True), strict, feasible)

    def unfinished(self, state: MTVRPState) -> Tensor:
        """Return bool ``[B, S, A]``: the customers not visited yet."""
        return torch.cat((torch.zeros_like(state.visited[..., :1]), ~state.visited[..., 1:]), dim=2)

    def step(self, instances: MTVRPInstances, state: MTVRPState, action: Tensor) -> MTVRPState:
        """Drive to ``action`` long ``[B, S]``, and serve; the depot begins a new route."""
        require_action(action, state.current, len(instances.demand))
        home = action == 0
        customer = (action - 1).clamp(min=0)
        ready, service = instances.windows[..., 0], instances.service
        points = torch.cat((instances.depot, instances.nodes), dim=1)
        leg = lengths(at(points, state.current) - at(points, action))
        start = torch.maximum(state.time + leg, ready.gather(1, customer))
        timed, limited = instances.horizon.isfinite(), instances.limit.isfinite()
        visited = state.visited.scatter(2, action[..., None], True)
        visited[..., 0] = home
        return MTVRPState(
            current=action,
            load=torch.where(home, 1.0, state.load - instances.demand.gather(1, customer)),
            visited=visited,
            picked=torch.where(home, 0.0, state.picked + instances.pickup.gather(1, customer)),
            time=torch.where(home | ~timed[:, None], 0.0, start + service.gather(1, customer)),
            length=torch.where(home | ~limited[:, None], 0.0, state.length + leg),
            open=state.open,
        )

    def done(self, instances: MTVRPInstances, state: MTVRPState) -> Tensor:  # noqa: ARG002
        """Return bool ``[B, S]``: whether every customer is visited and the last route ended."""
        return all_true(state.visited)

    def cost(self, instances: MTVRPInstances, actions: Tensor) -> Tensor:
        """Return the length of all routes ``[B, S]`` of ``actions`` long ``[B, S, T]``.

        Actions begin or end at the depot (0): the last leg leads back to the first visit.
        """
        points = torch.cat((instances.depot, instances.nodes), dim=1)
        legs = closed_legs(points, actions)
        free = (actions.roll(-1, dims=2) == 0) & (instances.open[:, None, None] > 0)
        return torch.where(free, 0.0, legs).sum(dim=2)

    def size(self, instances: MTVRPInstances) -> int:
        """Return ``n``."""
        return instances.nodes.shape[1]

    def steps(self, size: int) -> tuple[int, int]:
        """Return the least and the greatest number of actions of a solution, as for the CVRP.

        An open route also ends with a visit to the depot, which costs nothing.
        """
        return size + 2, 2 * size + 1

    def starts(self, instances: MTVRPInstances, trajectories: int) -> tuple[Tensor, ...]:
        """Return the forced first actions of POMO's multi-start, each long ``[B, S]``."""
        B, n, _ = instances.nodes.shape
        node = torch.arange(trajectories, device=instances.nodes.device) % n
        return (node.new_zeros(B, trajectories), (node + 1).expand(B, -1))

    def augment(self, instances: MTVRPInstances) -> MTVRPInstances:
        """Return the eight symmetric images of every instance, ``B -> 8B``."""
        return images(instances)

    def features(self, instances: MTVRPInstances) -> dict[str, Tensor]:
        """Return the features of the actions, 0 where an attribute is absent.

        The depot ``[B, 1, 5]``: coordinates, horizon, limit, open. The nodes ``[B, n, 7]``:
        coordinates, demand, pickup, earliest and latest time, service time.
        """
        of_all = torch.stack((instances.horizon, instances.limit, instances.open), dim=1)
        ready, due = instances.windows.unbind(dim=2)
        due = torch.minimum(due, instances.horizon[:, None])
        of_each = (instances.demand, instances.pickup, ready, due, instances.service)
        return {
            "depot": torch.cat((instances.depot, _finite(of_all)[:, None]), dim=2),
            "node": torch.cat((instances.nodes, _finite(torch.stack(of_each, dim=2))), dim=2),
        }

    def context(self, state: MTVRPState) -> Context:
        """Return the part of a state that a network reads: the last node and five scalars."""
        scalars = (state.load, state.picked, state.time, state.length, state.open)
        return Context(nodes={"last": state.current}, scalars=torch.stack(scalars, dim=2))


def _finite(values: Tensor) -> Tensor:
    """Return the values with 0 for infinity, which stands for an absent attribute."""
    return torch.where(values.isinf(), 0.0, values)
