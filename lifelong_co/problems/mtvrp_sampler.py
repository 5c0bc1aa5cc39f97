"""Random attributes of the multi-task VRP, as in RouteFinder's generator.

Source: `MTVRPGenerator` of RouteFinder (arXiv 2406.15007), which takes time windows from Liu et al.
2024 (arXiv 2402.16891). Nodes are in the unit square. With the distance ``d`` from the depot and
``U(a, b)`` uniform:

============  ====================================================================
attribute     fields
============  ====================================================================
time-windows  service time ``s = U(0.15, 0.18)``; width of the window ``w = U(0.18, 0.2)``;
              earliest time ``d + U(0, 1) (4.6 - s - w - 2 d)``; horizon 4.6
open          every route ends at its last customer
limit         ``U(2 max d, 2.8)``, or just above ``2 max d`` if that is more than 2.8
backhauls     each customer is a backhaul with probability 0.2; what it would get, it gives
============  ====================================================================
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.problems.distances import lengths
from lifelong_co.problems.mtvrp_instances import absent
from lifelong_co.protocols import FieldSampler

ATTRIBUTES = ("time-windows", "open", "limit", "backhauls")
HORIZON = 4.6
SERVICE = 0.15, 0.18
WIDTH = 0.18, 0.2
LONGEST = 2.8
"""The greatest limit, about the diagonal of the unit square there and back."""
MARGIN = 1e-6
BACKHAULS = 0.2
"""The share of customers that are backhauls."""


def sampler(*, attributes: Sequence[str] = ()) -> FieldSampler:
    """Return what draws the attributes of a task, e.g. ``("time-windows", "open")``.

    All attributes are drawn in any case, so that those named are the same with any others. With
    backhauls the result has the demand that is left, too.

    Raises
    ------
    UnknownNameError
        If a name is not in `ATTRIBUTES`.
    """
    if isinstance(attributes, str):
        raise ConfigError(f"attributes of mtvrp: expected a list of names, got {attributes!r}")
    for name in attributes:
        if name not in ATTRIBUTES:
            raise UnknownNameError("attribute of mtvrp", name, ATTRIBUTES)

    def sample(
        known: Mapping[str, Tensor], generator: torch.Generator | None
    ) -> Mapping[str, Tensor]:
        depot, nodes, demand = (known[name] for name in ("depot", "nodes", "demand"))
        away = lengths(nodes - depot)  # [B, n]

        def uniform(low: float | Tensor, high: float | Tensor, like: Tensor) -> Tensor:
            unit = torch.rand(like.shape, generator=generator, dtype=like.dtype, device=like.device)
            return low + (high - low) * unit

        service, width = uniform(*SERVICE, away), uniform(*WIDTH, away)
        ready = uniform(away, HORIZON - service - width - away, away)
        least = 2 * away.amax(dim=1) + MARGIN
        limit = uniform(least, (least + MARGIN).clamp(min=LONGEST), least)
        collects = uniform(0.0, 1.0, demand) < BACKHAULS
        found = {
            "time-windows": {
                "windows": torch.stack((ready, ready + width), dim=2),
                "service": service,
                "horizon": torch.full_like(least, HORIZON),
            },
            "open": {"open": torch.ones_like(least)},
            "limit": {"limit": limit},
            "backhauls": {
                "pickup": torch.where(collects, demand, 0.0),
                "demand": torch.where(collects, 0.0, demand),
            },
        }
        chosen = {field: value for name in attributes for field, value in found[name].items()}
        return absent(demand) | chosen

    return sample


ORDER: tuple[Mapping[str, Any], ...] = tuple(
    {"name": name, "distribution": "U", "size": 20, "capacity": 30, "attributes": attributes}
    for name, attributes in (
        ("C", ()),
        ("TW", ("time-windows",)),
        ("O", ("open",)),
        ("L", ("limit",)),
        ("B", ("backhauls",)),
        ("OTW", ("open", "time-windows")),
    )
)
"""The tasks of the order ``variants``; the preset gives their budgets."""
