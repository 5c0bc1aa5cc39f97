"""Solving instances from files greedily, with a few trajectories at a time to limit memory."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import torch

from lifelong_co.errors import ConfigError
from lifelong_co.instance_files.file_instance import FileInstance, cost, to_instances
from lifelong_co.instance_files.route_rules import in_time
from lifelong_co.protocols import Problem, Solver
from lifelong_co.rollout.verification import all_valid, require_valid
from lifelong_co.tensors import records
from lifelong_co.tensors.modules import device_of, evaluating, normalises_over_batch

# The most trajectories times actions in memory: on a CPU, 500 trajectories of 1,001 actions.
CPU_WORK = 500_000
GPU_WORK = 20_000_000
# The number of candidates in each chunk whose cost is computed in the file's units.
FINALISTS = 32

Integers = npt.NDArray[np.int64]


@attrs.frozen(eq=False)
class Best:
    """The best cost and the best length found for an instance, in file units."""

    cost: float
    """The least cost, by the file's distances; an integer if these are rounded."""
    actions: Integers
    """A solution of that cost, ``[T]``."""
    length: float
    """The least length by distances without rounding, as the official code measures it."""


def paper_instances(instance: FileInstance, problem: Problem) -> Any:
    """Return an instance (``B = 1``) scaled as in the official code: by its greatest coordinate."""
    fitted = to_instances(instance, problem)
    scaled = instance.coordinates / max(float(instance.coordinates.max()), 1e-9)
    points = torch.as_tensor(scaled, dtype=torch.float32)[None]
    if instance.demand is None:
        return attrs.evolve(fitted, nodes=points)
    return attrs.evolve(fitted, depot=points[:, :1], nodes=points[:, 1:])


def room(solver: Solver, size: int, at_once: int | None = None) -> int:
    """Return how many instances of ``size`` nodes are solved together, at least one.

    As many as fit in memory with all their trajectories. If the trajectories of a single instance
    do not fit, it is solved alone in chunks: more instances would only make the chunks smaller. If
    the network normalises over its batch, the result is 1, because the costs of an instance would
    depend on the other ones.

    Parameters
    ----------
    size
        ``n``.
    at_once
        See `decode`.
    """
    with evaluating(solver.module):
        mixed = normalises_over_batch(solver.module)
    return 1 if mixed else max(1, _most(solver, size, at_once) // size)


def _most(solver: Solver, size: int, at_once: int | None) -> int:
    """Return how many trajectories are in memory at a time, of all instances together."""
    on_cpu = device_of(solver.module).type == "cpu"
    return at_once or max(1, (CPU_WORK if on_cpu else GPU_WORK) // (size + 1))


@torch.no_grad()
def decode(
    solver: Solver,
    instances: Any,
    *,
    augment: bool = False,
    trajectories: int | None = None,
    at_once: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Iterator[tuple[Integers, npt.NDArray[np.float64]]]:
    """Decode greedy trajectories, one from every node, in chunks of ``k`` trajectories.

    Parameters
    ----------
    instances
        ``B`` instances of one size.
    augment
        Whether to solve all eight symmetric images, one after another.
    trajectories
        The number for each instance, from the first nodes; None: one from every node.
    at_once
        The most trajectories in memory, of all instances together; at least one of each instance
        is decoded. None: the limit follows from `CPU_WORK` or `GPU_WORK`.
    progress
        Called after each chunk with the share of the work that is done, from 0 to 1.

    Yields
    ------
    Actions ``[B, k, T]`` and costs ``[B, k]`` of each chunk, in the units of ``instances``. With a
    solver that forces no start, such as INViT where there is a depot, one solution of each image.

    Raises
    ------
    InvalidRolloutError
        If a solution is not complete and feasible, or its cost is not finite.

    Notes
    -----
    A solver starts its first ``S`` trajectories at the first ``S`` nodes. So each chunk gets the
    nodes in a rotated order, on which a solver does not depend, except by rounding.
    """
    batch = records.to(instances, device_of(solver.module))
    B, n = records.rows(batch), solver.problem.size(batch)
    wanted = n if trajectories is None else trajectories
    size = min(wanted, max(1, _most(solver, n, at_once) // B))
    images = solver.problem.augment(batch) if augment else batch
    for k in range(0, records.rows(images), B):  # all instances' first images come first
        image = records.select(images, slice(k, k + B))
        start = 0
        while start < wanted:
            chunk = rotated(image, start)
            with evaluating(solver.module):
                rollout = solver.rollout(chunk, "greedy", trajectories=min(size, wanted - start))
            valid = all_valid(solver.problem, chunk, rollout)
            require_valid(solver, rollout.cost.amin(dim=1), valid)
            actions, costs = rollout.actions.cpu().numpy(), rollout.cost.cpu().numpy()
            if actions.shape[1] > 1 and (actions == actions[:, :1]).all():  # no start is forced
                actions, costs, wanted, size = actions[:, :1], costs[:, :1], 1, 1
            yield unrotated(actions, start, n, depot=hasattr(batch, "depot")), costs
            start += size
            if progress is not None:
                progress((k // B + min(1.0, start / wanted)) * B / records.rows(images))


def rotated(instances: Any, start: int) -> Any:
    """Return instances with rotated nodes: node ``start`` becomes the first; the depot stays."""
    matrix = not hasattr(instances, "nodes")  # then rows and columns belong to nodes
    moved = {
        name: tensor.roll((-start, -start), dims=(1, 2))
        if matrix and tensor.dim() == 3
        else tensor.roll(-start, dims=1)
        for name, tensor in records.tensors(instances).items()
        if name != "depot" and tensor.dim() > 1
    }
    return attrs.evolve(instances, **moved)


def unrotated(actions: Integers, start: int, n: int, *, depot: bool) -> Integers:
    """Return actions on rotated instances as actions on the original ones; see `rotated`."""
    if not depot:
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
    progress: Callable[[float], None] | None = None,
) -> list[Best]:
    """Solve instances from files in one batch and return the best solutions of each.

    Parameters
    ----------
    instances
        At least one, all of one size; `room` returns how many to solve together.
    as_paper
        Whether to scale coordinates as the official code does (`paper_instances`). Otherwise they
        fill the unit square (`file_instance.to_instances`).
    augment, trajectories, at_once, progress
        See `decode`.

    Returns
    -------
    One `Best` for each instance, in their order.

    Raises
    ------
    ConfigError
        If the sizes differ.
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
        progress=progress,
    ):
        chunk = [_best(*each) for each in zip(instances, actions, costs, strict=True)]
        pairs = zip(instances, found or chunk, chunk, strict=True)
        found = [_joined(one, pair) for one, *pair in pairs]
    return found


def _best(instance: FileInstance, actions: Integers, costs: npt.NDArray[np.float64]) -> Best:
    """Return the best of ``actions [k, T]`` of an instance.

    ``costs [k]`` come from scaled coordinates. The file's rounding can change the order of
    solutions with nearly equal costs, so the best `FINALISTS` are compared in file units.
    """
    finalists = [in_time(instance, one) for one in actions[costs.argsort()[:FINALISTS]]]
    found = [Best(cost(instance, one), one, length(instance, one)) for one in finalists]
    return _joined(instance, found)


def _joined(instance: FileInstance, found: Sequence[Best]) -> Best:
    """Return the least cost and the least length; they may come from different solutions.

    Where distances are rounded, several solutions can have the least cost: the shortest one counts.
    """
    least = min(found, key=lambda one: (one.cost, length(instance, one.actions)))
    return attrs.evolve(least, length=min(one.length for one in found))


def length(instance: FileInstance, actions: Integers) -> float:
    """Return the length of the closed route without rounding; EXPLICIT distances as the file has.

    Parameters
    ----------
    instance
        The instance, which gives the unit.
    actions
        The order of visits, ``[T]``.
    """
    if instance.weights is not None:
        return float(cost(instance, actions))
    points = instance.coordinates[actions]
    legs = points - np.roll(points, -1, axis=0)
    return float(np.sqrt((legs**2).sum(axis=1)).sum())
