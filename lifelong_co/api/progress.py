"""Progress of a run: a live bar with the time left on a terminal, plain lines elsewhere."""

import operator
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from torch import Tensor

from lifelong_co import registry
from lifelong_co.config.run_config import Config
from lifelong_co.runs import data_files
from lifelong_co.runs.epochs import what_it_learns
from lifelong_co.runs.run import Run

# Steps between two readings of the cost: on a GPU each reading waits for the device.
SHOW_EVERY = 8


class Shown(Protocol):
    """What shows the steps and the lines of a run."""

    def on_step(self, run: Run, losses: dict[str, Tensor]) -> None:
        """Note a step."""

    def log(self, line: str) -> None:
        """Show a line."""


class Plain:
    """Lines for logs and pipes: one per epoch."""

    def __init__(self) -> None:
        self._clock: Clock | None = None

    def on_step(self, run: Run, losses: dict[str, Tensor]) -> None:
        """Print at the end of an epoch."""
        learner = run.learner
        self._clock = clock = self._clock or Clock(run)
        clock.note(run)
        if learner.batch < run.method.batches(learner):
            return
        done = clock.done(run) / clock.total
        # Means over the epoch: those of its last batch alone are mostly noise.
        means = {name: float(run.sums[name]) / learner.batch for name in losses}
        shown = "  ".join(f"{name} {value:.4g}" for name, value in means.items())
        name, number, epochs = what_it_learns(run, learner.epoch)
        self.log(f"{name} epoch {number}/{epochs} [{clock.left(run)}, {done:.0%}]: {shown}")

    def log(self, line: str) -> None:
        """Print a line at once, so that a pipe shows it."""
        print(line, flush=True)


class Quiet:
    """Shows nothing."""

    def on_step(self, run: Run, losses: dict[str, Tensor]) -> None:
        """Show nothing."""

    def log(self, line: str) -> None:
        """Show nothing."""


@contextmanager
def watching() -> Iterator[Shown]:
    """Yield what shows the progress of a run: a bar on a terminal, else lines."""
    if not sys.stdout.isatty():
        yield Plain()
        return
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("elapsed,"),
        TextColumn("{task.fields[left]}"),
    )
    with bar:
        row = bar.add_task("starting", total=None, left="")

        class Live:
            clock: Clock | None = None
            shown = "starting"

            def on_step(self, run: Run, losses: dict[str, Tensor]) -> None:
                learner = run.learner
                self.clock = clock = self.clock or Clock(run)
                clock.note(run)
                if learner.batch % SHOW_EVERY == 1:
                    name, number, epochs = what_it_learns(run, learner.epoch)
                    cost = float(losses["cost"])
                    self.shown = f"{name} epoch {number}/{epochs} cost {cost:.3f}"
                bar.update(
                    row,
                    total=clock.total,
                    completed=clock.done(run),
                    left=clock.left(run),
                    description=self.shown,
                )

            def log(self, line: str) -> None:
                # Names may look like markup, and a path must stay on one line.
                bar.console.print(line, highlight=False, markup=False, soft_wrap=True)

        yield Live()


class Clock:
    """Measures the seconds of a step of each task, and tells the time that is left.

    The time between two steps counts for the task of the second one, tests included. A task that
    has not begun gets the seconds of a measured one of the same work, or those of the measured one
    with the largest steps, in proportion to their work.
    """

    def __init__(self, run: Run) -> None:
        self._tasks = run.config.tasks
        self._work = step_work(run.config, data_files.read(run.folder.path))
        self._last: float | None = None
        self._seconds: dict[float, tuple[float, int]] = {}

    @property
    def total(self) -> float:
        """The work of the whole run."""
        return sum(map(self._of_task, range(len(self._tasks))))

    def done(self, run: Run) -> float:
        """Return the work of the steps taken."""
        present = run.learner.task
        before = sum(map(self._of_task, range(present)))
        return before + self._share(run) * self._of_task(present)

    def note(self, run: Run) -> None:
        """Note that a step has ended."""
        now = time.monotonic()
        if self._last is not None:
            work = self._work[run.learner.task]
            seconds, count = self._seconds.get(work, (0.0, 0))
            self._seconds[work] = seconds + now - self._last, count + 1
        self._last = now

    def left(self, run: Run) -> str:
        """Return the time that is left, e.g. ``12 min left``; no number before the second step."""
        if not self._seconds:
            return "time left unknown"
        each = {work: seconds / count for work, (seconds, count) in self._seconds.items()}
        largest, total = max(each), 0.0
        for index in range(run.learner.task, len(self._tasks)):
            task, work = self._tasks[index], self._work[index]
            steps = float(task.epochs * task.batches)
            if index == run.learner.task:
                steps *= 1 - self._share(run)
            total += steps * each.get(work, each[largest] * work / largest)
        return f"{duration(total)} left"

    def _of_task(self, index: int) -> float:
        task = self._tasks[index]
        return task.epochs * task.batches * self._work[index]

    def _share(self, run: Run) -> float:
        """Return how much of the present task is done, in ``[0, 1]``."""
        learner = run.learner
        epochs = learner.epoch + learner.batch / run.method.batches(learner)
        return epochs / self._tasks[learner.task].epochs


def duration(seconds: float) -> str:
    """Return a time with two digits or more, e.g. ``45 s``, ``12 min`` or ``3.4 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def step_work(config: Config, files: data_files.Digests) -> list[float]:
    """Return the work of a step of each task, in arbitrary units: trajectories times nodes.

    ``files`` has the largest size of each task of files that says none. A method that learns all
    tasks at once takes steps of all of them in each, so their mean counts.
    """
    tasks = config.tasks
    sizes = [data_files.size_of(task, files) for task in tasks]
    work = [
        float(task.batch_size * max(size, 10) ** 2) for task, size in zip(tasks, sizes, strict=True)
    ]
    if not registry.knows_all_tasks(config.method, config.method_options):
        return work
    steps = [task.epochs * task.batches for task in tasks]
    mean = sum(map(operator.mul, work, steps)) / sum(steps)
    return [mean for _ in tasks]
