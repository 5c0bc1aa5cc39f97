"""Solving one instance from a file as well as a trained solver can."""

import numpy as np
import numpy.typing as npt
import torch

from lifelong_co import records
from lifelong_co.protocols import Solver
from lifelong_co.vrplib_files import FileInstance, cost, to_instances

# The candidates whose cost is computed in the file's own, rounded distances.
FINALISTS = 32


@torch.no_grad()
def best_solution(
    solver: Solver,
    instance: FileInstance,
    *,
    augment: bool = True,
    trajectories: int | None = None,
) -> npt.NDArray[np.int64]:
    """Return the actions ``[T]`` of the cheapest solution found, by the file's own distances.

    Parameters
    ----------
    solver
        Decodes greedily from ``trajectories`` starts (every node when None).
    instance
        The file's instance; the network sees it scaled into the unit square.
    augment
        Decode the eight symmetric images too, one after another, to bound memory.
    """
    device = next(solver.module.parameters()).device
    one = records.to(to_instances(instance, solver.problem), device)
    images = solver.problem.augment(one) if augment else one
    best: tuple[int, npt.NDArray[np.int64]] | None = None
    for k in range(records.rows(images)):
        rollout = solver.rollout(
            records.select(images, slice(k, k + 1)), "greedy", trajectories=trajectories
        )
        costs = rollout.cost[0]
        # Rounding can reorder solutions of nearly equal length, so a few are compared exactly.
        for index in costs.argsort()[:FINALISTS].tolist():
            actions = rollout.actions[0, index].cpu().numpy()
            exact = cost(instance, actions)
            if best is None or exact < best[0]:
                best = exact, actions
    assert best is not None  # there is at least one image and one trajectory
    return best[1]
