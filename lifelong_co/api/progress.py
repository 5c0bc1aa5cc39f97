"""Progress of a run: a live bar with the time left on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from torch import Tensor

from lifelong_co.config.run_config import Config
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

    def __init__(self, config: Config) -> None:
        self._clock = Clock(config)

    def on_step(self, run: Run, losses: dict[str, Tensor]) -> None:
        """Print at the end of an epoch."""
        learner = run.learner
        task = run.config.tasks[learner.task]
        self._clock.note(run)
        if learner.batch < run.method.batches(learner):
            return
        done = work_done(run) / total_work(run.config)
        # Means over the epoch: those of its last batch alone are mostly noise.
        means = {name: float(run.sums[name]) / learner.batch for name in losses}
        shown = "  ".join(f"{name} {value:.4g}" for name, value in means.items())
        left = self._clock.left(run)
        self.log(
            f"{task.label} epoch {learner.epoch + 1}/{task.epochs} [{left}, {done:.0%}]: {shown}"
        )

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
def quiet(config: Config) -> Iterator[Shown]:  # noqa: ARG001
    """Yield what shows nothing."""
    yield Quiet()


@contextmanager
def watching(config: Config) -> Iterator[Shown]:
    """Yield what shows the progress of a run: a bar on a terminal, else lines."""
    if not sys.stdout.isatty():
        yield Plain(config)
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
        row = bar.add_task("starting", total=total_work(config), left="")

        class Live:
            cost = float("nan")
            clock = Clock(config)

            def on_step(self, run: Run, losses: dict[str, Tensor]) -> None:
                learner = run.learner
                task = config.tasks[learner.task]
                self.clock.note(run)
                if learner.batch % SHOW_EVERY == 1:
                    self.cost = float(losses["cost"])
                bar.update(
                    row,
                    completed=work_done(run),
                    left=self.clock.left(run),
                    description=f"{task.label} epoch {learner.epoch + 1}/{task.epochs} "
                    f"cost {self.cost:.3f}",
                )

            def log(self, line: str) -> None:
                # Names may look like markup, and a path must stay on one line.
                bar.console.print(line, highlight=False, markup=False, soft_wrap=True)

        yield Live()


class Clock:
    """Measures the seconds of a step of each task, and tells the time that is left.

    The time between two steps counts for the task of the second one, tests included. A task that
    has not begun gets the seconds of a measured one of the same size, or those of the measured one
    with the largest steps, in proportion to `step_work`.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._last: float | None = None
        self._seconds: dict[float, tuple[float, int]] = {}

    def note(self, run: Run) -> None:
        """Note that a step has ended."""
        now = time.monotonic()
        if self._last is not None:
            work = step_work(self._config, run.learner.task)
            seconds, count = self._seconds.get(work, (0.0, 0))
            self._seconds[work] = seconds + now - self._last, count + 1
        self._last = now

    def left(self, run: Run) -> str:
        """Return the time that is left, e.g. ``12 min left``; no number before the second step."""
        if not self._seconds:
            return "time left unknown"
        each = {work: seconds / count for work, (seconds, count) in self._seconds.items()}
        largest = max(each)
        learner, total = run.learner, 0.0
        for index in range(learner.task, len(self._config.tasks)):
            task, work = self._config.tasks[index], step_work(self._config, index)
            steps = float(task.epochs * task.batches)
            if index == learner.task:
                done = learner.epoch + learner.batch / run.method.batches(learner)
                steps *= 1 - done / task.epochs
            total += steps * each.get(work, each[largest] * work / largest)
        return f"{duration(total)} left"


def duration(seconds: float) -> str:
    """Return a time with two digits or more, e.g. ``45 s``, ``12 min`` or ``3.4 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def step_work(config: Config, task: int) -> float:
    """Return the work of a whole batch of a task, in arbitrary units: trajectories times nodes."""
    chosen = config.tasks[task]
    return float(chosen.batch_size * max(chosen.size, 10) ** 2)


def total_work(config: Config) -> float:
    """Return the work of the whole run."""
    return sum(
        task.epochs * task.batches * step_work(config, index)
        for index, task in enumerate(config.tasks)
    )


def work_done(run: Run) -> float:
    """Return the work of the steps taken."""
    config, learner = run.config, run.learner
    before = sum(
        task.epochs * task.batches * step_work(config, index)
        for index, task in enumerate(config.tasks[: learner.task])
    )
    batches = config.tasks[learner.task].batches
    epochs = learner.epoch + learner.batch / run.method.batches(learner)
    return before + epochs * batches * step_work(config, learner.task)
