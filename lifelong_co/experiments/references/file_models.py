"""Models of files for the solvers of references, in the units of the files.

Whole distances and times are exact. If one of them is not whole, all are counted in
ten-thousandths, and times are rounded so that a route that a solver allows is allowed in the file.
"""

import numpy as np

from lifelong_co.errors import ConfigError
from lifelong_co.instance_files.file_instance import FileInstance, Numbers, distance_matrix
from lifelong_co.instance_files.route_rules import TimeWindows
from lifelong_co.problems.mtvrp_model import NEVER, MTVRPModel, enough
from lifelong_co.problems.reference_models import Integers, RouteModel, TourModel

# Steps of one unit of length and time, where not all of them are whole.
STEPS = 10_000
# Steps that are missing from a latest time if only rounding is the reason.
ROUNDING = 4
# In steps: 0.3 times 10,000 is a little above 3,000.
NOISE = 1e-6


def model_of_file(instance: FileInstance) -> TourModel | RouteModel | MTVRPModel:
    """Return the model of an instance from a file.

    Raises
    ------
    ConfigError
        If the file has other rules than time windows.
    """
    distances = distance_matrix(instance)
    lengths = in_steps(distances, 1 if np.issubdtype(distances.dtype, np.integer) else STEPS)
    if instance.demand is None or instance.capacity is None:
        return TourModel(lengths)
    rules = instance.rules
    if rules is None:
        return RouteModel(lengths, instance.demand, instance.capacity)
    if not isinstance(rules, TimeWindows):
        raise ConfigError(
            f"{instance.name}: expected tours, or routes with capacities and time windows, which"
            f" PyVRP models here, got {instance.problem} with other rules"
        )
    return _with_windows(instance, distances, rules)


def in_steps(distances: Numbers, steps: int) -> Integers:
    """Return lengths in steps, rounded to the nearest one."""
    return np.rint(distances * steps).astype(np.int64)


def _with_windows(instance: FileInstance, distances: Numbers, rules: TimeWindows) -> MTVRPModel:
    assert instance.demand is not None
    assert instance.capacity is not None
    bounds = np.stack((rules.ready, rules.due)) - rules.ready[0]
    whole = all((times == np.rint(times)).all() for times in (distances, bounds, rules.service))
    steps = 1 if whole else STEPS
    durations, early, service = (
        np.ceil(np.maximum(times, 0) * steps - NOISE).astype(np.int64)
        for times in (distances, bounds[0], rules.service)
    )
    late = np.floor(bounds[1] * steps + NOISE).astype(np.int64)
    late[1:] = enough(late[1:], durations[0, 1:], ROUNDING)
    early = np.minimum(early, late)  # a window can lie between two steps
    alone = np.maximum(early, durations[0]) + service + durations[:, 0]
    horizon = int(enough(late[:1], alone[1:], ROUNDING).max())
    lengths = in_steps(distances, steps)
    # Not more than all: PyVRP's integers have an end.
    capacity = min(instance.capacity, max(int(instance.demand.sum()), 1))
    # The mean load is as large as the mean distance, as `mtvrp_model.PENALTIES` needs it.
    factor = max(1, round(float(lengths.mean()) / (float(instance.demand.mean()) or 1.0)))
    loads = np.stack((instance.demand, np.zeros_like(instance.demand)), axis=1)
    return MTVRPModel(
        distances=lengths,
        durations=durations,
        loads=loads * factor,
        capacity=capacity * factor,
        times=np.stack((early, late, service), axis=1)[1:],
        horizon=horizon,
        limit=NEVER,
    )
