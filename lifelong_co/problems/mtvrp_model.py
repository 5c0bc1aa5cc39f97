"""The multi-task VRP as PyVRP solves it: a model in integers.

Lengths and times are in ten-millionths of a unit. So the rounding of a route of 100 customers stays
within the tolerance of the problem, 1e-5. Two rules are written as distances: the way back of
an open route is 0, and the way from a backhaul to a linehaul customer is longer than any solution.
RouteFinder's code has the same two (`baselines/pyvrp.py`).
"""

import time
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import torch

from lifelong_co.problems.mtvrp_instances import MTVRPInstances
from lifelong_co.problems.reference_models import Integers, found, whole_demand
from lifelong_co.reference_solvers.contract import Found, Settings
from lifelong_co.reference_solvers.heuristic import Penalties, search
from lifelong_co.reference_solvers.packages import optional

STEPS = 10_000_000
"""Integer steps of one unit of length and time."""
NEVER = int(np.iinfo(np.int64).max)
"""PyVRP's number for a time or a distance without a bound."""
ROUNDING = 60
"""Steps by which a bound may be too low: `MTVRP` allows 5e-6, and lengths are rounded."""
# A unit of excess load, time or distance costs about as much as a unit of distance: loads are
# multiplied so that the mean load is the mean distance. Where a bound is just met, a delay of a few
# steps must cost more than it saves.
PENALTIES = Penalties(unit=1.0, prohibitive=100.0, last=1e6)


@attrs.frozen(eq=False)
class MTVRPModel:
    """A multi-task VRP in integers. The depot comes first in matrices."""

    distances: Integers
    """``[n + 1, n + 1]``, what a route costs."""
    durations: Integers
    """``[n + 1, n + 1]``, the times of the same ways."""
    loads: Integers
    """``[n, 2]``, delivery and pickup of each customer."""
    capacity: int
    times: Integers
    """``[n, 3]``, earliest and latest time and service time of each customer."""
    horizon: int
    limit: int

    def solve(self, settings: Settings) -> Found | None:
        """Return the best solution of PyVRP's searches; None if none is feasible."""
        begin = time.perf_counter()
        routes = search(self.data(), settings, restarts=settings.restarts, penalties=PENALTIES)
        if routes is None:
            return None
        actions = [node for route in routes for node in (0, *route)] + [0]
        return found(actions, False, "pyvrp", settings, begin)

    def data(self) -> Any:
        """Return PyVRP's form of the instance."""
        make: dict[str, type] = vars(optional("pyvrp"))
        clients = [
            make["Client"](
                location=i,
                delivery=[delivery],
                pickup=[pickup],
                service_duration=service,
                tw_early=early,
                tw_late=late,
            )
            for i, (delivery, pickup, early, late, service) in enumerate(
                np.hstack((self.loads, self.times)).tolist(), start=1
            )
        ]
        vehicles = make["VehicleType"](
            num_available=len(clients),
            capacity=[self.capacity],
            tw_late=self.horizon,
            max_distance=self.limit,
        )
        return make["ProblemData"](
            locations=[make["Location"](0, 0) for _ in range(len(clients) + 1)],
            clients=clients,
            depots=[make["Depot"](0)],
            vehicle_types=[vehicles],
            distance_matrices=[self.distances],
            duration_matrices=[self.durations],
        )


def mtvrp_model(instances: MTVRPInstances) -> MTVRPModel:
    """Return the model of one instance, float64 on the CPU."""
    points = torch.cat((instances.depot, instances.nodes), dim=1)[0]
    lengths = torch.cdist(points, points, compute_mode="donot_use_mm_for_euclid_dist")
    durations = steps(lengths)
    mean, longest = float(durations.mean()), int(durations.max())
    is_open = bool(instances.open[0])
    if is_open:
        durations[:, 0] = 0
    distances = durations.copy()
    backhaul = instances.pickup[0].numpy() > 0
    later, earlier = np.flatnonzero(backhaul) + 1, np.flatnonzero(~backhaul) + 1
    distances[np.ix_(later, earlier)] = 2 * longest * len(durations)
    loads, capacity = whole_demand(torch.cat((instances.demand[0], instances.pickup[0])).numpy())
    factor = max(1, round(mean / max(float(loads.mean()), 1e-9)))
    times = steps(torch.cat((instances.windows[0], instances.service[0][:, None]), dim=1))
    out, back = durations[0, 1:], durations[1:, 0]
    times[:, 1] = enough(times[:, 1], out, ROUNDING)
    early, _, service = times.T
    alone = np.maximum(early, out) + service + back
    return MTVRPModel(
        distances=distances,
        durations=durations,
        loads=loads.reshape(2, -1).T * factor,
        capacity=capacity * factor,
        times=times,
        horizon=NEVER if is_open else int(enough(steps(instances.horizon), alone, ROUNDING).max()),
        limit=int(enough(steps(instances.limit), out + back, ROUNDING).max()),
    )


def enough(bounds: Integers, needed: Integers, rounding: int) -> Integers:
    """Return bounds, raised to what is needed where at most ``rounding`` steps are missing."""
    return np.where((needed > bounds) & (needed - bounds <= rounding), needed, bounds)


def steps(values: torch.Tensor) -> npt.NDArray[np.int64]:
    """Return lengths or times in steps; `NEVER` for infinity."""
    finite = values.isfinite()
    rounded = np.rint(torch.where(finite, values, 0.0).numpy() * STEPS).astype(np.int64)
    return np.where(finite.numpy(), rounded, NEVER)
