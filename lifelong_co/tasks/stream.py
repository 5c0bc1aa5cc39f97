"""The training batches of a run: those of all tasks come from one random stream."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import torch

from lifelong_co.problems.images import SQUARE, images, random_angles
from lifelong_co.protocols import Problem
from lifelong_co.tasks import drift
from lifelong_co.tasks.task import Task
from lifelong_co.tensors import records


@attrs.frozen(eq=False)
class TaskStream:
    """Draws the training batches of a sequence of tasks; made by `task_stream`."""

    tasks: Sequence[Task]
    draws: Sequence[drift.Draw]
    """One function per task."""
    generator: torch.Generator
    """A checkpoint keeps the state of this generator, and needs nothing else."""
    device: str
    """The device on which batches are returned."""
    problem: Problem
    symmetries: str = SQUARE
    """``square`` or ``random``: the images of `images` (`problems.images`)."""

    def batch(self, task: int, step: int, size: int | None = None) -> Any:
        """Return a fresh batch of the task with index ``task``, at its step ``step``, from 0.

        It has ``size`` instances; None: as many as the task has at this step.
        """
        B = self.tasks[task].batch_size_at(step) if size is None else size
        return records.to(self.draws[task](self.generator, step, B), self.device)

    def apart(self, task: int, generator: torch.Generator, size: int) -> Any:
        """Return a batch as at the end of a task, from another generator; the run's stays as it is.

        Raises
        ------
        ConfigError
            If the task is learned, and its files have changed since.
        """
        of = self.tasks[task]
        return records.to(self.draws[task](generator, of.epochs * of.batches, size), self.device)

    def images(self, instances: Any) -> Any:
        """Return the ``8 B`` images of a batch; the generator draws the random ones."""
        if self.symmetries == SQUARE:
            return images(self.problem, instances)
        angles = random_angles(records.rows(instances), self.generator)
        return images(self.problem, instances, angles)


def task_stream(
    tasks: Sequence[Task],
    problem: Problem,
    generator: torch.Generator,
    device: str,
    symmetries: str = SQUARE,
    *,
    learned: int = 0,
    check: Callable[[Task], object] = lambda task: None,  # noqa: ARG005
) -> TaskStream:
    """Return the stream that draws the tasks' batches with a generator and moves them to a device.

    Its images are those of ``symmetries``. The files of the first ``learned`` tasks are read only
    if a batch of them is drawn, so they may be gone; ``check`` is called with the task before.

    Raises
    ------
    LifelongError
        If the instances of a task cannot be drawn; a note of the error names the task.
    """
    draws = [
        later(task, problem, check) if i < learned else drift.training(task, problem)
        for i, task in enumerate(tasks)
    ]
    return TaskStream(tasks, draws, generator, device, problem, symmetries)


def later(task: Task, problem: Problem, check: Callable[[Task], object]) -> drift.Draw:
    """Return `drift.training`, made after a check when it first draws."""

    @functools.cache
    def made() -> drift.Draw:
        check(task)
        return drift.training(task, problem)

    return lambda stream, step, B: made()(stream, step, B)
