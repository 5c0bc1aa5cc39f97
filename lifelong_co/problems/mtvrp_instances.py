"""Instances of the multi-task VRP: a CVRP with time windows, open routes, limits and backhauls.

Every instance has all attributes. Where one is absent, its fields hold values without an effect:
no pickup, windows from 0 to infinity, no service time, an infinite horizon, an infinite limit, and
0 for open. So one batch can hold instances of several variants.
"""

import attrs
import torch
from torch import Tensor

from lifelong_co.problems.cvrp import CVRP, ROUNDING
from lifelong_co.problems.geometry import symmetries
from lifelong_co.problems.validation import bounds, fractions, refuse_where, same_kind
from lifelong_co.tensors.records import LENGTH


@attrs.frozen(eq=False)
class MTVRPInstances:
    """A batch of instances. Lengths and times have one unit: a vehicle drives 1 in a time of 1."""

    depot: Tensor
    """``[B, 1, 2]``."""
    nodes: Tensor
    """``[B, n, 2]``, the customers."""
    demand: Tensor
    """``[B, n]``, what a linehaul customer gets, in fractions of the capacity."""
    pickup: Tensor
    """``[B, n]``, what a backhaul customer gives, in fractions of the capacity."""
    windows: Tensor = attrs.field(metadata={LENGTH: True})
    """``[B, n, 2]``: the earliest and the latest time at which service may start."""
    service: Tensor = attrs.field(metadata={LENGTH: True})
    """``[B, n]``, the time that service takes."""
    horizon: Tensor = attrs.field(metadata={LENGTH: True})
    """``[B]``, the latest return to the depot. Infinite: the instance has no time windows."""
    limit: Tensor = attrs.field(metadata={LENGTH: True})
    """``[B]``, the greatest length of a route; infinite: none."""
    open: Tensor
    """``[B]``, 1 if a route ends at its last customer, 0 if it returns to the depot."""


UNBOUNDED = ("windows", "horizon", "limit")
"""Fields that may be infinite."""


def checked(*, depot: object, nodes: object, demand: object, **others: object) -> MTVRPInstances:
    """Check fields and fill in the absent ones; the parameters are those of `MTVRP.instances`.

    Whether each customer can be visited is not checked here.
    """
    base = CVRP().instances(depot=depot, nodes=nodes, demand=demand)
    fields = absent(base.demand)
    for name, value in others.items():
        if value is not None:
            check = bounds if name in UNBOUNDED else fractions
            fields[name] = check(name, value, tuple(fields[name].shape))
    made = MTVRPInstances(depot=base.depot, nodes=base.nodes, demand=base.demand, **fields)
    same_kind(("nodes", made.nodes), **fields)
    _check_values(made)
    return made


def absent(demand: Tensor) -> dict[str, Tensor]:
    """Return the fields of all attributes without an effect, for ``demand [B, n]``."""
    B = len(demand)
    endless = torch.full_like(demand, torch.inf)
    return {
        "pickup": torch.zeros_like(demand),
        "windows": torch.stack((torch.zeros_like(demand), endless), dim=2),
        "service": torch.zeros_like(demand),
        "horizon": demand.new_full((B,), torch.inf),
        "limit": demand.new_full((B,), torch.inf),
        "open": demand.new_zeros(B),
    }


def _check_values(batch: MTVRPInstances) -> None:
    """Refuse values out of range, and attributes that contradict each other."""
    ready, due = batch.windows.unbind(dim=2)
    timed = batch.horizon[:, None].isfinite()
    unit = batch.open * (1 - batch.open) == 0
    wrong = {
        "pickup: expected fractions of the capacity, from 0 to 1": ~(
            (batch.pickup >= 0) & (batch.pickup <= 1 + ROUNDING)
        ),
        "pickup: expected 0 for a customer with a demand": (batch.pickup > 0) & (batch.demand > 0),
        "windows: expected an earliest time of at least 0, and finite": ~(
            (ready >= 0) & ready.isfinite()
        ),
        "windows: expected a latest time of at least the earliest": due < ready,
        "service: expected at least 0": batch.service < 0,
        "horizon: expected at least 0": batch.horizon < 0,
        "horizon: expected a finite number in an instance with time windows or service times": (
            ~timed & ((ready > 0) | due.isfinite() | (batch.service > 0))
        ),
        "limit: expected at least 0": batch.limit < 0,
        "open: expected 0 or 1": ~unit,
    }
    for expected, where in wrong.items():
        refuse(expected, batch, where)


def refuse(expected: str, batch: MTVRPInstances, where: Tensor) -> None:
    """Raise `InvalidInstancesError` for the first True of ``where``, bool ``[B]`` or ``[B, n]``.

    ``expected`` begins with the name of the field.
    """
    refuse_where(expected, getattr(batch, expected.partition(":")[0]), where, "customer")


def images(batch: MTVRPInstances) -> MTVRPInstances:
    """Return the eight symmetric images of every instance, ``B -> 8B``."""
    same = attrs.asdict(batch, recurse=False)
    fields = {name: value.repeat(8, *[1] * (value.dim() - 1)) for name, value in same.items()}
    fields |= {"depot": symmetries(batch.depot), "nodes": symmetries(batch.nodes)}
    return MTVRPInstances(**fields)
