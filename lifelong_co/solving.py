"""Solving one instance from a file greedily, a few trajectories at a time to bound memory."""

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import torch

from lifelong_co import records
from lifelong_co.protocols import Problem, Solver
from lifelong_co.vrplib_files import FileInstance, cost, to_instances

# Trajectories times actions at once: 500 trajectories of 1,001 actions on a CPU.
CPU_WORK = 500_000
GPU_WORK = 20_000_000
# The candidates of each chunk whose cost is computed in the file's own units.
FINALISTS = 32

Integers = npt.NDArray[np.int64]


@attrs.frozen(eq=False)
class Best:
    """The best solutions of an instance, in file units."""

    cost: int
    """The least, by the file's rounded distances."""
    actions: Integers
    """Of that cost, ``[T]``."""
    length: float
    """The least, by distances that are not rounded, as in the official code."""


def paper_instances(instance: FileInstance, problem: Problem) -> Any:
    """Return what networks see under the official code: coordinates over the greatest of all."""
    fitted = to_instances(instance, problem)
    scaled = instance.coordinates / max(float(instance.coordinates.max()), 1e-9)
    points = torch.as_tensor(scaled, dtype=torch.float32)[None]
    if problem.name == "tsp":
        return attrs.evolve(fitted, nodes=points)
    return attrs.evolve(fitted, depot=points[:, :1], nodes=points[:, 1:])


@torch.no_grad()
def decode(
    solver: Solver,
    instances: Any,
    *,
    augment: bool = False,
    trajectories: int | None = None,
    at_once: int | None = None,
) -> Iterator[tuple[Integers, npt.NDArray[np.float64]]]:
    """Yield actions ``[k, T]`` and costs ``[k]`` of greedy trajectories, one from every node.

    Parameters
    ----------
    solver
        In evaluation mode.
    instances
        One, ``B = 1``.
    augment
        The eight symmetric images, too.
    trajectories
        So many, from the first nodes; from every node when None.
    at_once
        Trajectories in memory at a time; bounded by `CPU_WORK` or `GPU_WORK` when None.

    Notes
    -----
    A solver starts its first ``S`` trajectories at the first ``S`` nodes, so each chunk sees the
    nodes in a rotated order; solvers do not depend on it but for rounding.
    """
    device = next(solver.module.parameters()).device
    one = records.to(instances, device)
    n = solver.problem.size(one)
    work = CPU_WORK if device.type == "cpu" else GPU_WORK
    wanted = n if trajectories is None else trajectories
    size = min(wanted, at_once or max(1, work // (n + 1)))
    images = solver.problem.augment(one) if augment else one
    for k in range(records.rows(images)):
        image = records.select(images, slice(k, k + 1))
        for start in range(0, wanted, size):
            chunk = rotated(image, start)
            rollout = solver.rollout(chunk, "greedy", trajectories=min(size, wanted - start))
            actions = rollout.actions[0].cpu().numpy()
            yield unrotated(actions, start, n, solver.problem), rollout.cost[0].cpu().numpy()


def rotated(instances: Any, start: int) -> Any:
    """Return instances whose first node is node ``start``; a depot stays where it is."""
    moved = {
        name: tensor.roll(-start, dims=1)
        for name, tensor in records.tensors(instances).items()
        if name != "depot"
    }
    return attrs.evolve(instances, **moved)


def unrotated(actions: Integers, start: int, n: int, problem: Problem) -> Integers:
    """Return the actions on the instance before `rotated`."""
    if problem.name == "tsp":
        return (actions + start) % n
    return np.where(actions == 0, 0, (actions - 1 + start) % n + 1)


def best(
    solver: Solver,
    instance: FileInstance,
    *,
    as_paper: bool = False,
    augment: bool = False,
    trajectories: int | None = None,
    at_once: int | None = None,
) -> Best:
    """Return the best solutions found for an instance from a file.

    Parameters
    ----------
    as_paper
        Scale coordinates as the official code does (`paper_instances`), not to fill the unit
        square (`vrplib_files.to_instances`).
    augment, trajectories, at_once
        As for `decode`.
    """
    scale = paper_instances if as_paper else to_instances
    found: Best | None = None
    for actions, costs in decode(
        solver,
        scale(instance, solver.problem),
        augment=augment,
        trajectories=trajectories,
        at_once=at_once,
    ):
        # Rounding can reorder solutions of nearly equal length, so a few are compared exactly.
        for index in costs.argsort()[:FINALISTS]:
            exact, plain = cost(instance, actions[index]), length(instance, actions[index])
            if found is None:
                found = Best(exact, actions[index], plain)
                continue
            if exact < found.cost:
                found = attrs.evolve(found, cost=exact, actions=actions[index])
            if plain < found.length:
                found = attrs.evolve(found, length=plain)
    assert found is not None  # there is at least one image and one trajectory
    return found


def length(instance: FileInstance, actions: Integers) -> float:
    """Return the length of the closed route in distances that are not rounded, if not EXPLICIT."""
    if instance.weights is not None:
        return float(cost(instance, actions))
    points = instance.coordinates[actions]
    legs = points - np.roll(points, -1, axis=0)
    return float(np.sqrt((legs**2).sum(axis=1)).sum())
