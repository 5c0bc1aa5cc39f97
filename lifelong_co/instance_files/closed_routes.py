"""Costs in the units of a file are lengths of closed routes; a problem may count something else."""

import math

from lifelong_co.errors import ConfigError
from lifelong_co.instance_files.file_instance import FileInstance, to_instances
from lifelong_co.instance_files.nearest_neighbor import between_actions, follow
from lifelong_co.protocols import Problem

# Both numbers are sums in float32.
TOLERANCE = 1e-3


def refuse_other_costs(instance: FileInstance, problem: Problem) -> None:
    """Refuse a file whose problem does not count the length of closed routes.

    One solution of the nearest-neighbor rule is compared.

    Raises
    ------
    ConfigError
        If the problem's cost of it is another number.
    """
    batch = to_instances(instance, problem)
    distances = between_actions(batch)
    actions = follow(problem, batch, distances, 1)
    length = float(distances[actions[0], actions[0].roll(-1)].sum())
    counted = float(problem.cost(batch, actions[None]))
    if not math.isclose(counted, length, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
        raise ConfigError(
            f"{instance.name}: expected a problem that counts the length of closed routes, as files"
            f" do, got {problem.name}, which counts {counted:.4g} for routes of the length"
            f" {length:.4g} (in the unit square); a test on these files has the problem's cost"
        )
