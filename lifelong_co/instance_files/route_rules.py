"""Time windows and limits of a file, in its units: fields for networks, an independent check."""

import os
from collections.abc import Mapping, Sequence

import attrs
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from lifelong_co.instance_files.file_instance import FileInstance
from lifelong_co.instance_files.solutions import broken_rule, routes
from lifelong_co.instance_files.vrplib_parser import refuse
from lifelong_co.problems.cvrp import ROUNDING

# Sums of distances that are not rounded, in file units.
TOLERANCE = 1e-6

Times = npt.NDArray[np.float64]


@attrs.frozen(eq=False)
class TimeWindows:
    """When each node can be served. A vehicle drives one unit of length in one unit of time."""

    ready: Times
    """``[n + 1]``: the earliest start of service; the depot's is when vehicles may leave."""
    due: Times
    """``[n + 1]``: the latest start of service; the depot's is the latest return."""
    service: Times
    """``[n + 1]``: how long service takes; 0 at the depot."""
    direct: Times
    """``[n + 1]``: the distance from the depot to each node for the network: a straight line."""
    lengths_only: bool = False
    """Whether the depot's latest time limits the length of a route, and there is nothing else."""

    def fields(self, side: float) -> Mapping[str, Tensor]:
        """Return ``windows``, ``service`` and ``horizon`` of `problems.mtvrp`.

        Times are divided by ``side`` and count from the earliest departure. The latest times are
        less by twice the tolerance of the masks, so that a route of a network is in time in the
        file, too. Where a drive from the depot would be late then, the time of its arrival is used.
        With `lengths_only` the result has only ``limit``, which is less in the same way.
        """
        margin = 2 * ROUNDING * side
        ready, arrival, back = self._straight()
        due = self.due[1:] - self.ready[0]
        due = np.where(due - margin < arrival, np.maximum(due, arrival), due - margin)
        horizon = max(self.due[0] - self.ready[0] - margin, back)
        if self.lengths_only:
            return {"limit": torch.tensor([horizon / side], dtype=torch.float32)}
        scaled = {
            "windows": np.stack((ready, due), axis=1),
            "service": self.service[1:],
            "horizon": np.array(horizon),
        }
        return {
            name: torch.as_tensor(times / side, dtype=torch.float32)[None]
            for name, times in scaled.items()
        }

    @property
    def relaxed(self) -> bool:
        """Whether networks get more time than the file says: a straight line can take longer."""
        _, arrival, back = self._straight()
        late = self.due - self.ready[0]
        return bool((late[1:] < arrival).any() or late[0] < back)

    def _straight(self) -> tuple[Times, Times, float]:
        """Return earliest starts and arrivals ``[n]``, and the latest return from one customer."""
        ready = np.maximum(self.ready[1:] - self.ready[0], 0.0)
        arrival = np.maximum(self.direct[1:], ready)
        return ready, arrival, float((arrival + self.service[1:] + self.direct[1:]).max())

    def fault(self, route: Sequence[int], legs: Sequence[float]) -> str:
        """Return why a route is late, or an empty text; see `file_instance.Rules`."""
        time = float(self.ready[0])
        for node, leg in zip((*route, 0), legs, strict=True):
            time = max(time + leg, float(self.ready[node]))
            if time > self.due[node] + TOLERANCE:
                where = f"node {node}" if node else "the depot"
                return f"expected at most {self.due[node]:.12g} at {where}, got {time:.12g}"
            time += float(self.service[node])
        return ""


def with_windows(
    path: str | os.PathLike[str],
    instance: FileInstance,
    bounds: Times,
    service: Times,
    *,
    lengths_only: bool = False,
) -> FileInstance:
    """Return an instance with time windows, after a check that each node can be served alone.

    Parameters
    ----------
    path
        The file, for messages.
    instance
        The instance without time windows.
    bounds, service
        ``[A, 2]`` and ``[A]``, in file units, with the depot first.
    lengths_only
        See `TimeWindows`.

    Raises
    ------
    FileFormatError
        If a node cannot be served, a time is less than 0, or the depot has a service time.
    """
    if (bounds < 0).any() or (service < 0).any():
        raise refuse(path, "time windows and service times: expected at least 0")
    if service[0]:
        raise refuse(path, f"service time of the depot: expected 0, got {service[0]:g}")
    points = instance.coordinates
    direct = np.sqrt(((points - points[0]) ** 2).sum(axis=1)) * instance.steps
    rules = TimeWindows(bounds[:, 0], bounds[:, 1], service, direct, lengths_only)
    ruled = attrs.evolve(instance, rules=rules)
    for node in range(1, len(points)):
        if fault := broken_rule(ruled, [node]):
            raise refuse(path, f"node {node} cannot be served, even alone: {fault}")
    return ruled


def with_limit(
    path: str | os.PathLike[str], instance: FileInstance, limit: int, service: Times
) -> FileInstance:
    """Return an instance whose routes have a limit: on their length and service times together.

    That is a latest return to the depot, because without earliest times no vehicle waits.

    Parameters
    ----------
    path, instance, service
        See `with_windows`.
    limit
        In file units.

    Raises
    ------
    FileFormatError
        As in `with_windows`.
    """
    bounds = np.tile([0.0, float(limit)], (len(instance.coordinates), 1))
    return with_windows(path, instance, bounds, service, lengths_only=not service[1:].any())


def in_time(instance: FileInstance, actions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return actions ``[T]`` with visits to the depot where a route would break a rule of the file.

    The network sees distances that are not rounded, and single precision. So a route can be allowed
    there and late in the file. Nothing changes if all routes are allowed.
    """
    if instance.rules is None:
        return actions
    found = [0]
    for route in routes(actions):
        begun: list[int] = []
        for node in route:
            if begun and broken_rule(instance, [*begun, node]):
                found, begun = [*found, *begun, 0], []
            begun.append(node)
        found += [*begun, 0]
    return np.array(found, dtype=np.int64)
