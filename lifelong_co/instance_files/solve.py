"""Solving instances from files greedily, a few trajectories at a time to bound memory."""

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import torch

from lifelong_co.errors import ConfigError
from lifelong_co.instance_files.vrplib_instances import FileInstance, cost, to_instances
from lifelong_co.protocols import Problem, Solver
from lifelong_co.tensors import records
from lifelong_co.tensors.modules import normalises_over_batch

# Trajectories of all instances times actions at once: 500 trajectories of 1,001 actions on a CPU.
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


def room(solver: Solver, size: int, at_once: int | None = None) -> int:
    """Return how many instances of ``size`` nodes are solved together, at least one.

    As many as all trajectories of fit in memory: where those of a single one are decoded chunk
    after chunk, more instances would only make the chunks smaller. One also where the network
    normalises over whatever is in its batch, as costs would depend on the neighbours.
    """
    mixed = normalises_over_batch(solver.module)
    return 1 if mixed else max(1, _most(solver, size, at_once) // size)


def _most(solver: Solver, size: int, at_once: int | None) -> int:
    """Return how many trajectories are in memory at a time."""
    on_cpu = next(solver.module.parameters()).device.type == "cpu"
    return at_once or max(1, (CPU_WORK if on_cpu else GPU_WORK) // (size + 1))


@torch.no_grad()
def decode(
    solver: Solver,
    instances: Any,
    *,
    augment: bool = False,
    trajectories: int | None = None,
    at_once: int | None = None,
) -> Iterator[tuple[Integers, npt.NDArray[np.float64]]]:
    """Yield actions ``[B, k, T]`` and costs ``[B, k]`` of greedy trajectories, one from every node.

    Parameters
    ----------
    solver
        In evaluation mode.
    instances
        ``B``, of one size.
    augment
        The eight symmetric images, too, one after another.
    trajectories
        So many of each instance, from the first nodes; from every node when None.
    at_once
        Trajectories of all instances in memory at a time, though at least one of each; bounded by
        `CPU_WORK` or `GPU_WORK` when None.

    Notes
    -----
    A solver starts its first ``S`` trajectories at the first ``S`` nodes, so each chunk sees the
    nodes in a rotated order; solvers do not depend on it but for rounding.
    """
    batch = records.to(instances, next(solver.module.parameters()).device)
    B, n = records.rows(batch), solver.problem.size(batch)
    wanted = n if trajectories is None else trajectories
    size = min(wanted, max(1, _most(solver, n, at_once) // B))
    images = solver.problem.augment(batch) if augment else batch
    for k in range(0, records.rows(images), B):  # all instances' first images come first
        image = records.select(images, slice(k, k + B))
        for start in range(0, wanted, size):
            chunk = rotated(image, start)
            rollout = solver.rollout(chunk, "greedy", trajectories=min(size, wanted - start))
            actions = rollout.actions.cpu().numpy()
            yield unrotated(actions, start, n, solver.problem), rollout.cost.cpu().numpy()


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


def best_each(
    solver: Solver,
    instances: Sequence[FileInstance],
    *,
    as_paper: bool = False,
    augment: bool = False,
    trajectories: int | None = None,
    at_once: int | None = None,
) -> list[Best]:
    """Return the best solutions found for each of some instances from files, solved in one batch.

    Parameters
    ----------
    instances
        At least one, all of one size; `room` says how many are too many.
    as_paper
        Scale coordinates as the official code does (`paper_instances`), not to fill the unit
        square (`vrplib_files.to_instances`).
    augment, trajectories, at_once
        As for `decode`.

    Raises
    ------
    ConfigError
        If their sizes differ.
    """
    sizes = {one.size for one in instances}
    if len(sizes) != 1:
        raise ConfigError(f"instances: expected one size in a batch, got {sorted(sizes)}")
    scale = paper_instances if as_paper else to_instances
    found: list[Best] = []
    for actions, costs in decode(
        solver,
        records.concatenate([scale(one, solver.problem) for one in instances]),
        augment=augment,
        trajectories=trajectories,
        at_once=at_once,
    ):
        chunk = [_best(*each) for each in zip(instances, actions, costs, strict=True)]
        found = [_joined(pair) for pair in zip(found, chunk, strict=True)] if found else chunk
    return found


def _best(instance: FileInstance, actions: Integers, costs: npt.NDArray[np.float64]) -> Best:
    """Return the best of ``actions [k, T]`` of an instance; ``costs [k]`` as its network sees it.

    Rounding can reorder solutions of nearly equal length, so a few are compared exactly.
    """
    finalists = actions[costs.argsort()[:FINALISTS]]
    return _joined([Best(cost(instance, one), one, length(instance, one)) for one in finalists])


def _joined(found: Sequence[Best]) -> Best:
    """Return the best of both measures, which may be different solutions."""
    least = min(found, key=lambda one: one.cost)
    return attrs.evolve(least, length=min(one.length for one in found))


def length(instance: FileInstance, actions: Integers) -> float:
    """Return the length of the closed route in distances that are not rounded, if not EXPLICIT."""
    if instance.weights is not None:
        return float(cost(instance, actions))
    points = instance.coordinates[actions]
    legs = points - np.roll(points, -1, axis=0)
    return float(np.sqrt((legs**2).sum(axis=1)).sum())
