"""Tasks that drift: their batches move step by step from another distribution to the task's.

A task has ``N`` steps. At step ``t`` each instance of the batch comes from the task's distribution
with probability ``t / (N - 1)``, and otherwise from the distribution before it
(`tasks.Task.former`). So the first batch comes only from the distribution before, and the last
batch only from the task's. This works for any two distributions, also those of plugins, because it
needs nothing of their parameters. The mixture depends only on the step and on the run's stream of
instances, so a checkpoint needs no further state.
"""

from collections.abc import Callable
from typing import Any

import torch

from lifelong_co.protocols import Problem
from lifelong_co.tasks import instances
from lifelong_co.tasks.task import Task
from lifelong_co.tensors import records

Draw = Callable[[torch.Generator, int, int], Any]
"""Draws ``B`` instances from a generator, on its device: called with it, the step and ``B``."""


def share(task: Task, step: int) -> float:
    """Return the probability that an instance comes from the task's distribution, in ``[0, 1]``.

    Parameters
    ----------
    task
        A task that drifts.
    step
        ``t``, from 0. From ``t = N - 1`` on the result is 1, with ``N = epochs * batches``.
    """
    last = task.epochs * task.batches - 1
    return 1.0 if step >= last else step / last


def training(task: Task, problem: Problem) -> Draw:
    """Return the function that draws a task's training batches."""
    own = instances.training(task, problem)
    if not task.drift_from:
        return lambda stream, step, B: own(stream, B)  # noqa: ARG005
    former = instances.training(task.former, problem)

    def draw(stream: torch.Generator, step: int, B: int) -> Any:
        # Both batches are drawn whole: to draw only what is needed would wait for the device.
        both = records.concatenate([own(stream, B), former(stream, B)])
        coin = torch.rand(B, generator=stream, device=stream.device)
        row = torch.arange(B, device=stream.device)
        return records.select(both, torch.where(coin < share(task, step), row, row + B))

    return draw
