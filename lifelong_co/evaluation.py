"""Testing: greedy decoding, the best solution of the multi-start, optionally of eight images.

If the network normalises over its batch, the costs of an instance depend on the other ones. The
test batches then have the official sizes, on every device.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from lifelong_co.errors import InvalidRolloutError, UnknownNameError
from lifelong_co.problems.images import IMAGES, RANDOM, SQUARE, SYMMETRIES, images, random_angles
from lifelong_co.protocols import Solver
from lifelong_co.rollout.verification import best_of, require_valid
from lifelong_co.tensors import records
from lifelong_co.tensors.modules import device_of, evaluating, normalises_over_batch
from lifelong_co.validators import truth, whole

# Instances times nodes times trajectories of one test batch: a limit on the memory it needs.
CPU_WORK = 80_000
GPU_WORK = 4_000_000
# The largest size ``n`` and the rows of its test batches, images included, in the official code
# (``batch_sizes`` of ``tester_params`` in LLR-BC's train_lifelong_and_test.py; with eight images
# an eighth of the instances). Between its sizes and above them, `official_rows` is our choice.
OFFICIAL_ROWS = ((20, 64), (50, 32), (100, 16))


@torch.no_grad()
def best_costs(
    solver: Solver,
    instances: Any,
    *,
    augment: bool = False,
    symmetries: str = SQUARE,
    batch: int | None = None,
) -> Tensor:
    """Return the cost ``[B]`` of the best solution found for each instance.

    Parameters
    ----------
    solver
        In evaluation mode during the test; afterwards in the mode it had before.
    instances
        Any number of instances; moved to the solver's device batch by batch.
    augment
        Also solve seven images of every instance (POMO's x8 augmentation).
    symmetries
        Which ones: ``square`` or ``random`` (`problems.images`); the random ones are the same in
        every test.
    batch
        Instances that are solved at once, at least 1; None: as many as a limit on memory allows, or
        those of `OFFICIAL_ROWS` if the network normalises over its batch.

    Raises
    ------
    ConfigError, UnknownNameError
        If ``augment``, ``batch`` or ``symmetries`` is something else.
    InvalidRolloutError
        If an instance's best solution is not complete and feasible, or a cost is not finite.
    """
    if symmetries not in SYMMETRIES:
        raise UnknownNameError("symmetries", str(symmetries), SYMMETRIES)
    augment = truth("augment", augment)
    batch = None if batch is None else whole("batch", batch, 1)
    device = device_of(solver.module)
    count, n = records.rows(instances), solver.problem.size(instances)
    # Drawn at once, on the CPU: the images depend neither on the batch nor on the device.
    angles = None
    if augment and symmetries == RANDOM:
        angles = random_angles(count, torch.Generator().manual_seed(0))
    costs, valid = [], []
    with evaluating(solver.module):
        at_once = batch or instances_at_once(solver, n, device, IMAGES if augment else 1)
        for start in range(0, count, at_once):
            rows = slice(start, start + at_once)
            part = records.to(records.select(instances, rows), device)
            if augment:
                part = images(solver.problem, part, None if angles is None else angles[:, rows])
            copied = records.transform(part, Tensor.clone)  # a solver must not change the test
            best, sound = best_of(solver.problem, part, solver.rollout(copied, "greedy"))
            costs.append(best.view(IMAGES, -1).min(dim=0).values if augment else best)
            valid.append(sound.view(IMAGES, -1).all(dim=0) if augment else sound)
    found = torch.cat(costs)
    require_valid(solver, found, torch.cat(valid))
    return found


def instances_at_once(solver: Solver, size: int, device: torch.device, each: int) -> int:
    """Return how many instances of ``size`` nodes a test batch has, with ``each`` images.

    The solver must be in evaluation mode.
    """
    if normalises_over_batch(solver.module):
        return max(1, official_rows(size) // each)
    work = CPU_WORK if device.type == "cpu" else GPU_WORK
    return max(1, work // (size * size * each))


def official_rows(size: int) -> int:
    """Return the rows of the official test batches for instances of ``size`` nodes.

    Sizes between those of the paper have the rows of the next larger one; larger sizes have 16.
    """
    return next((rows for most, rows in OFFICIAL_ROWS if size <= most), OFFICIAL_ROWS[-1][1])


def note_batches(solver: Solver, log: Callable[[str], None]) -> None:
    """Log the sizes of the test batches if the costs of a solver depend on them."""
    with evaluating(solver.module):
        over_batch = normalises_over_batch(solver.module)
    if over_batch:
        sizes = ", ".join(f"{rows} up to size {most}" for most, rows in OFFICIAL_ROWS[:-1])
        log(
            "the network normalises over its batch, so tests have the official batches: "
            f"{sizes}, {OFFICIAL_ROWS[-1][1]} above (instances, or images of instances)"
        )


def mean_cost(
    solver: Solver, groups: Sequence[Any], *, augment: bool = False, symmetries: str = SQUARE
) -> float:
    """Return the mean of `best_costs` over all instances of some groups, one group per size."""
    costs = [best_costs(solver, group, augment=augment, symmetries=symmetries) for group in groups]
    return float(torch.cat(costs).double().mean())


@contextmanager
def named_test(what: str) -> Iterator[None]:
    """Add to an `InvalidRolloutError` of the block what was tested, e.g. ``task U20``."""
    try:
        yield
    except InvalidRolloutError as error:
        error.add_note(f"test of {what}")
        raise
