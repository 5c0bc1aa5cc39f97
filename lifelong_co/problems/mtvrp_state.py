"""States of the multi-task VRP, and which customers the present routes can reach."""

import attrs
import torch
from torch import Tensor

from lifelong_co.problems.distances import lengths
from lifelong_co.problems.mtvrp_instances import MTVRPInstances


@attrs.frozen(eq=False)
class MTVRPState:
    """The partial routes of ``S`` trajectories per instance."""

    current: Tensor  # long [B, S]
    load: Tensor  # [B, S], the capacity left for deliveries, as a fraction
    visited: Tensor  # bool [B, S, A]
    picked: Tensor  # [B, S], the pickup on board, in fractions of the capacity
    time: Tensor  # [B, S], when service at the current node ends; 0 without time windows
    length: Tensor  # [B, S], the length of the present route; 0 without a limit
    open: Tensor  # [B, S], 1 where routes are open


def reached(
    instances: MTVRPInstances, state: MTVRPState, tolerance: float
) -> tuple[Tensor, Tensor]:
    """Return two bool ``[B, S, n]``: customers that a route can reach in time and within the limit.

    That includes the way back to the depot, unless the routes are open.
    """
    points = torch.cat((instances.depot, instances.nodes), dim=1)
    here = at(points, state.current)
    way = lengths(here[:, :, None] - instances.nodes[:, None])  # [B, S, n]
    back = lengths(instances.depot - instances.nodes) * (1 - instances.open[:, None])  # [B, n]
    ready, due = instances.windows[:, None].unbind(dim=3)
    # An open route need not be back at the horizon.
    latest = torch.where(instances.open > 0, torch.inf, instances.horizon)
    start = torch.maximum(state.time[..., None] + way, ready)
    end = start + (instances.service + back)[:, None]
    in_time = (start <= due + tolerance) & (end <= latest[:, None, None] + tolerance)
    total = state.length[..., None] + way + back[:, None]
    return in_time, total <= instances.limit[:, None, None] + tolerance


def in_order(instances: MTVRPInstances, state: MTVRPState) -> Tensor:
    """Return bool ``[B, S, n]``: after a backhaul customer only backhaul customers may follow."""
    backhaul = instances.pickup > 0  # [B, n]
    last = backhaul.gather(1, (state.current - 1).clamp(min=0)) & (state.current > 0)
    return ~last[..., None] | backhaul[:, None]


def at(points: Tensor, index: Tensor) -> Tensor:
    """Return the points ``[B, S, 2]`` at ``index`` long ``[B, S]``."""
    return points.gather(1, index[..., None].expand(-1, -1, 2))
