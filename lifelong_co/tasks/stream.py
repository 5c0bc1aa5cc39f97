"""The training batches of a run: one random stream, from which all tasks are drawn."""

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
    """One function a task."""
    generator: torch.Generator
    """Its state is all that a checkpoint has to keep."""
    device: str

    def batch(self, task: int, step: int) -> Any:
        """Return a fresh batch of the task with this index, at a step of its budget, from 0."""
        return records.to(self.draws[task](self.generator, step), self.device)


def task_stream(
    tasks: Sequence[Task], problem: Problem, generator: torch.Generator, device: str
) -> TaskStream:
    """Return the stream of these tasks, drawn from a generator and put on a device."""
    return TaskStream([drift.training(task, problem) for task in tasks], generator, device)
