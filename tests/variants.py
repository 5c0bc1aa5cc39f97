"""Instances of the 16 variants of the multi-task VRP, and its rules in plain Python."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import torch
from hypothesis import strategies as st

from lifelong_co.problems import mtvrp_sampler
from lifelong_co.problems.mtvrp import MTVRP
from lifelong_co.problems.mtvrp_instances import MTVRPInstances
from lifelong_co.problems.mtvrp_sampler import ATTRIBUTES

VARIANTS = [names for k in range(5) for names in combinations(ATTRIBUTES, k)]
UNIT = 12  # demands are multiples of 1 / UNIT: several customers fit into a route
TOLERANCE = 2e-5


def drawn(
    names: tuple[str, ...],
    *,
    batch: int = 3,
    size: int = 6,
    seed: int = 0,
    dtype: torch.dtype = torch.float32,
) -> MTVRPInstances:
    """Draw instances of a variant."""
    stream = torch.Generator().manual_seed(seed)
    fields: dict[str, Any] = {
        "depot": torch.rand(batch, 1, 2, generator=stream, dtype=dtype),
        "nodes": torch.rand(batch, size, 2, generator=stream, dtype=dtype),
        "demand": torch.randint(1, 6, (batch, size), generator=stream).to(dtype) / UNIT,
    }
    return MTVRP().instances(**fields | mtvrp_sampler.sampler(attributes=names)(fields, stream))


@st.composite
def variant_instances(draw: st.DrawFn) -> MTVRPInstances:
    """Draw ``B`` 1-3 instances of ``n`` 2-8 customers of any variant."""
    return drawn(
        draw(st.sampled_from(VARIANTS)),
        batch=draw(st.integers(1, 3)),
        size=draw(st.integers(2, 8)),
        seed=draw(st.integers(0, 2**32 - 1)),
        dtype=draw(st.sampled_from([torch.float32, torch.float64])),
    )


def routes(actions: list[int]) -> Iterator[list[int]]:
    """Yield the customers of each route, in their order."""
    route: list[int] = []
    for action in [*actions, 0]:
        if action:
            route.append(action)
        elif route:
            yield route
            route = []


def length(batch: MTVRPInstances, b: int, route: list[int]) -> float:
    """Return the length of a route of instance ``b``."""
    points = torch.cat((batch.depot[b], batch.nodes[b])).double()
    path = points[torch.tensor([0, *route] if batch.open[b] else [0, *route, 0])]
    return float((path[1:] - path[:-1]).norm(dim=1).sum())


def faults(batch: MTVRPInstances, b: int, route: list[int]) -> set[str]:
    """Return the rules that a route of instance ``b`` breaks, by a plain simulation."""
    deliveries = [float(batch.demand[b, i - 1]) for i in route]
    pickups = [float(batch.pickup[b, i - 1]) for i in route]
    points = torch.cat((batch.depot[b], batch.nodes[b])).double()
    found = set()
    if sum(deliveries) > 1 + TOLERANCE or sum(pickups) > 1 + TOLERANCE:
        found.add("capacity")
    backhauls = [amount > 0 for amount in pickups]
    if backhauls != sorted(backhauls):
        found.add("order")
    if length(batch, b, route) > float(batch.limit[b]) + TOLERANCE:
        found.add("limit")
    if batch.horizon[b].isfinite():
        time, last = 0.0, 0
        for node in route:
            ready, due = batch.windows[b, node - 1].tolist()
            time = max(time + float((points[node] - points[last]).norm()), ready)
            if time > due + TOLERANCE:
                found.add("window")
            time, last = time + float(batch.service[b, node - 1]), node
        back = time + float((points[0] - points[last]).norm())
        if not batch.open[b] and back > float(batch.horizon[b]) + TOLERANCE:
            found.add("horizon")
    return found
