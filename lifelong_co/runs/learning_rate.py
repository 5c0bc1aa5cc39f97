"""The learning rate of a step: that of the epoch, times the factor of a schedule."""

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
    learner, method = run.learner, run.method
    done = learner.epoch + learner.batch / method.batches(learner)
    schedule = SCHEDULES[run.config.schedule]
    if method.knows_all_tasks:
        epochs = [task.epochs for task in learner.tasks]
        before = sum(epochs[: learner.task])
        return schedule((before + done) / sum(epochs), before + learner.epoch)
    first = learner.task == 0 or method.restarts
    return schedule(done / learner.tasks[learner.task].epochs, learner.epoch if first else 0)
