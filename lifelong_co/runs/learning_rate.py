"""The learning rate of a step: that of the epoch, lowered by a schedule."""

import torch

from lifelong_co.runs.run import Run
from lifelong_co.tensors.schedule import SCHEDULES


def decay(optimizer: torch.optim.Optimizer, factor: float) -> None:
    """Multiply the learning rate, after an epoch; the optimizer's state keeps it."""
    for group in optimizer.param_groups:
        group["lr"] *= factor


def rate_factor(run: Run) -> float:
    """Return the factor of the learning rate that the schedule has at this step.

    A schedule is for one task; if a method learns all tasks at once, for the whole run.
    """
    learner = run.learner
    epochs = [task.epochs for task in learner.tasks]
    done = learner.epoch + learner.batch / run.method.batches(learner)
    if run.method.knows_all_tasks:
        share = (sum(epochs[: learner.task]) + done) / sum(epochs)
    else:
        share = done / epochs[learner.task]
    return SCHEDULES[run.config.schedule](share)
