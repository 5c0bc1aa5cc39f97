"""The training batches of a run: those of all tasks come from one random stream."""

from collections.abc import Sequence
from typing import Any

import attrs
import torch

from lifelong_co.protocols import Problem
from lifelong_co.tasks import drift
from lifelong_co.tasks.task import Task
from lifelong_co.tensors import records


@attrs.frozen(eq=False)
class TaskStream:
    """Draws the training batches of a sequence of tasks; made by `task_stream`."""

    draws: Sequence[drift.Draw]
    """One function per task."""
    generator: torch.Generator
    """A checkpoint keeps the state of this generator, and needs nothing else."""
    device: str
    """The device on which batches are returned."""

    def batch(self, task: int, step: int) -> Any:
        """Return a fresh batch of the task with index ``task``, at its step ``step``, from 0."""
        return records.to(self.draws[task](self.generator, step), self.device)


def task_stream(
    tasks: Sequence[Task], problem: Problem, generator: torch.Generator, device: str
) -> TaskStream:
    """Return the stream that draws the tasks' batches with a generator and moves them to a device.

    Raises
    ------
    LifelongError
        If the instances of a task cannot be drawn; a note of the error names the task.
    """
    return TaskStream([_draw(task, problem) for task in tasks], generator, device)


def _draw(task: Task, problem: Problem) -> drift.Draw:
    """Return the function that draws a task's batches, the last one of an epoch with its size."""
    draw = drift.training(task, problem)
    if task.last_batch_size is None:
        return draw
    smaller = drift.training(attrs.evolve(task, batch_size=task.last_batch_size), problem)
    size = task.batch_size

    def either(stream: torch.Generator, step: int) -> Any:
        return (draw if task.batch_size_at(step) == size else smaller)(stream, step)

    return either
