"""Tasks that drift: batches that move, a little each, from one distribution to the task's own.

At step ``t`` of the ``N`` of a task each instance of the batch is drawn from the task's own
distribution with probability ``t / (N - 1)``, and else from the former one (`tasks.Task.former`):
the first batch is all of the former, the last all of the task's own. So any two distributions can
be mixed, a plugin's as well, without knowing what their parameters are; to interpolate those, both
would have to be of one family. What is mixed follows from where the loop stands and what is drawn
from the run's stream of instances: there is nothing to save.
"""

from collections.abc import Callable
from typing import Any

import torch

from lifelong_co.protocols import Problem
from lifelong_co.tasks import instances as streams
from lifelong_co.tasks.task import Task
from lifelong_co.tensors import records

Draw = Callable[[torch.Generator, int], Any]
"""Draws a training batch from a generator, on its device, at a step of the task's budget."""


def share(task: Task, step: int) -> float:
    """Return the chance that an instance is of the task's own distribution, in ``[0, 1]``.

    Parameters
    ----------
    task
        A task that drifts.
    step
        ``t`` of its ``N = epochs * batches`` steps, from 0; at ``N - 1`` and after it is 1.
    """
    last = task.epochs * task.batches - 1
    return 1.0 if step >= last else step / last


def training(task: Task, problem: Problem) -> Draw:
    """Return the function that draws a task's training batches."""
    own = streams.training(task, problem)
    if not task.drift_from:
        return lambda stream, step: own(stream)  # noqa: ARG005
    former = streams.training(task.former, problem)

    def draw(stream: torch.Generator, step: int) -> Any:
        B = task.batch_size
        # Two batches, each drawn whole: how many of which are kept need not be asked of the device.
        both = records.concatenate([own(stream), former(stream)])
        coin = torch.rand(B, generator=stream, device=stream.device)
        row = torch.arange(B, device=stream.device)
        return records.select(both, torch.where(coin < share(task, step), row, row + B))

    return draw
