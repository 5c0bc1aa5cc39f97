"""Nearest neighbor: always drive to the nearest node that may be visited next.

A network that is worse than this rule has learned nothing that helps on the instance. The rule
knows no problem: it follows the masks, and drives to a depot only if nothing else is allowed.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from lifelong_co.instance_files.file_instance import FileInstance, distance_matrix, to_instances
from lifelong_co.protocols import Problem
from lifelong_co.tensors import records

# The most trajectories times actions times steps: all starts up to about 1,000 nodes.
WORK = 1_100_000_000


def nearest_neighbor(instance: FileInstance, problem: Problem) -> npt.NDArray[np.int64]:
    """Solve an instance from every start with the distances of its file.

    Parameters
    ----------
    instance
        The instance, in file units.
    problem
        Its problem.

    Returns
    -------
    ``[S, T]``: one solution for each start, in the order of the nodes. Above about 1,000 nodes only
    as many starts as `WORK` allows.
    """
    distances = torch.as_tensor(distance_matrix(instance).astype(np.float64))
    batch = to_instances(instance, problem)
    n = problem.size(batch)
    starts = max(1, min(n, WORK // (n + 1) ** 2))
    return follow(problem, batch, distances, starts).numpy()


@torch.no_grad()
def follow(problem: Problem, batch: Any, distances: Tensor, starts: int) -> Tensor:
    """Return the actions long ``[S, T]`` of ``S = starts`` trajectories of one instance.

    Parameters
    ----------
    problem, batch
        The problem and an instance of it, ``B = 1``.
    distances
        ``[A, A]`` between the actions.
    starts
        ``S``: trajectory ``s`` starts where the ``s``-th one of a multi-start does.
    """
    state = problem.reset(batch, starts)
    chosen = []
    for action in problem.starts(batch, starts):
        state = problem.step(batch, state, action)
        chosen.append(action)
    while not bool(problem.done(batch, state).all()):
        allowed = problem.feasible(batch, state)
        nodes = allowed & problem.unfinished(state)
        allowed = torch.where(nodes.any(dim=2, keepdim=True), nodes, allowed)
        far = distances[state.current.clamp(min=0)].masked_fill(~allowed, torch.inf)
        action = far.argmin(dim=2)
        state = problem.step(batch, state, action)
        chosen.append(action)
    return torch.stack(chosen, dim=2)[0]


def least_costs(problem: Problem, instances: Any) -> Tensor:
    """Return the least cost ``[B]`` of the rule over all starts, for instances of a network.

    The distances are those `between_actions`.
    """
    found = []
    for b in range(records.rows(instances)):
        one = records.select(instances, slice(b, b + 1))
        actions = follow(problem, one, between_actions(one), problem.size(one))
        found.append(problem.cost(one, actions[None]).min())
    return torch.stack(found)


def between_actions(instance: Any) -> Tensor:
    """Return the distances ``[A, A]`` between the actions of an instance of a network, ``B = 1``.

    They are Euclidean, or those of the field ``matrix`` if there are no coordinates.
    """
    if not hasattr(instance, "nodes"):
        return torch.as_tensor(instance.matrix[0])
    depot = [instance.depot] if hasattr(instance, "depot") else []
    points = torch.cat([*depot, instance.nodes], dim=1)[0]
    return torch.cdist(points, points)
