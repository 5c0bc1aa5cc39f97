"""Testing: greedy decoding, the best solution of the multi-start, optionally of eight images."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from lifelong_co.errors import InvalidRolloutError
from lifelong_co.protocols import Solver
from lifelong_co.rollout.verification import best_of, require_valid
from lifelong_co.tensors import records

# Instances times nodes times trajectories of one test batch: a limit on the memory it needs.
CPU_WORK = 80_000
GPU_WORK = 4_000_000


@torch.no_grad()
def best_costs(
    solver: Solver, instances: Any, *, augment: bool = False, batch: int | None = None
) -> Tensor:
    """Return the cost ``[B]`` of the best solution found for each instance.

    Parameters
    ----------
    solver
        In evaluation mode during the test; afterwards in the mode it had before.
    instances
        Any number of instances; moved to the solver's device batch by batch.
    augment
        Also solve the seven symmetric images of every instance (POMO's x8 augmentation).
    batch
        Instances that are solved at once; None: as many as a limit on memory allows.

    Raises
    ------
    InvalidRolloutError
        If an instance's best solution is not complete and feasible, or a cost is not finite.
    """
    device = next(solver.module.parameters()).device
    n = solver.problem.size(instances)
    work = CPU_WORK if device.type == "cpu" else GPU_WORK
    at_once = batch or max(1, work // (n * n * (8 if augment else 1)))
    was_training = solver.module.training
    solver.module.eval()
    costs, valid = [], []
    try:
        for start in range(0, records.rows(instances), at_once):
            part = records.to(records.select(instances, slice(start, start + at_once)), device)
            if augment:
                part = solver.problem.augment(part)
            best, sound = best_of(solver.problem, part, solver.rollout(part, "greedy"))
            costs.append(best.view(8, -1).min(dim=0).values if augment else best)
            valid.append(sound.view(8, -1).all(dim=0) if augment else sound)
    finally:
        solver.module.train(was_training)
    found = torch.cat(costs)
    require_valid(solver, found, torch.cat(valid))
    return found


def mean_cost(solver: Solver, groups: Sequence[Any], *, augment: bool = False) -> float:
    """Return the mean of `best_costs` over all instances of some groups, one group per size."""
    costs = torch.cat([best_costs(solver, group, augment=augment) for group in groups])
    return float(costs.double().mean())


@contextmanager
def named_test(what: str) -> Iterator[None]:
    """Add to an `InvalidRolloutError` of the block what was tested, e.g. ``task U20``."""
    try:
        yield
    except InvalidRolloutError as error:
        error.add_note(f"test of {what}")
        raise
