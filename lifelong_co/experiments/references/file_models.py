"""Models of files for the solvers of references, in the units of the files.

Rounded distances are exact. Distances that are not rounded, and their times, are counted in
ten-thousandths, and times are rounded so that a route that a solver allows is allowed in the file.
"""

import numpy as np

from lifelong_co.errors import ConfigError
from lifelong_co.instance_files.file_instance import FileInstance, distance_matrix
from lifelong_co.instance_files.route_rules import TimeWindows
from lifelong_co.problems.mtvrp_model import NEVER, MTVRPModel
from lifelong_co.problems.reference_models import RouteModel, TourModel

# Steps of one unit of length, where distances are not rounded.
STEPS = 10_000


def model_of_file(instance: FileInstance) -> TourModel | RouteModel | MTVRPModel:
    """Return the model of an instance from a file.

    Raises
    ------
    ConfigError
        If the file has other rules than time windows.
    """
    distances = distance_matrix(instance)
    steps = 1 if np.issubdtype(distances.dtype, np.integer) else STEPS
    lengths = np.rint(distances * steps).astype(np.int64)
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
    ready, due = rules.ready - rules.ready[0], rules.due - rules.ready[0]
    times = np.stack(
        (np.ceil(ready * steps), np.floor(due * steps), np.ceil(rules.service * steps))
    )
    # The mean load is as large as the mean distance, as `mtvrp_model.PENALTIES` needs it.
    factor = max(1, round(float(lengths.mean()) / max(float(instance.demand.mean()), 1e-9)))
    loads = np.stack((instance.demand, np.zeros_like(instance.demand)), axis=1)
    return MTVRPModel(
        distances=lengths,
        durations=np.ceil(distances * steps).astype(np.int64),
        loads=loads * factor,
        capacity=instance.capacity * factor,
        times=np.maximum(times, 0).astype(np.int64).T[1:],
        horizon=int(times[1, 0]),
        limit=NEVER,
    )
