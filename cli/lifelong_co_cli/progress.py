"""Progress of a run: a live bar with the time left on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from torch import Tensor

    from lifelong_co.config.run_config import Config
    from lifelong_co.runs.run import Run


# Steps between two readings of the cost: on a GPU each reading waits for the device.
SHOW_EVERY = 8


class Shown(Protocol):
    """What shows the steps and the lines of a run."""

    def on_step(self, run: "Run", losses: "dict[str, Tensor]") -> None:
        """Note a step."""

    def log(self, line: str) -> None:
        """Show a line."""


class Plain:
    """Lines for logs and pipes: one per epoch."""

    def on_step(self, run: "Run", losses: "dict[str, Tensor]") -> None:
        """Print at the end of an epoch."""
        learner = run.learner
        task = run.config.tasks[learner.task]
        if learner.batch < run.method.batches(learner):
            return
        done = work_done(run) / total_work(run.config)
        # Means over the epoch: those of its last batch alone are mostly noise.
        means = {name: float(run.sums[name]) / learner.batch for name in losses}
        shown = "  ".join(f"{name} {value:.4g}" for name, value in means.items())
        self.log(f"{task.label} epoch {learner.epoch + 1}/{task.epochs} [{done:.0%}]: {shown}")

    def log(self, line: str) -> None:
        """Print a line at once, so that a pipe shows it."""
        print(line, flush=True)


@contextmanager
def watching(config: "Config") -> Iterator[Shown]:
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
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("elapsed,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with bar:
        row = bar.add_task("starting", total=total_work(config))

        class Live:
            cost = float("nan")

            def on_step(self, run: "Run", losses: "dict[str, Tensor]") -> None:
                learner = run.learner
                task = config.tasks[learner.task]
                if learner.batch % SHOW_EVERY == 1:
                    self.cost = float(losses["cost"])
                bar.update(
                    row,
                    completed=work_done(run),
                    description=f"{task.label} epoch {learner.epoch + 1}/{task.epochs} "
                    f"cost {self.cost:.3f}",
                )

            def log(self, line: str) -> None:
                # Names may look like markup, and a path must stay on one line.
                bar.console.print(line, highlight=False, markup=False, soft_wrap=True)

        yield Live()


@contextmanager
def share_of_work(name: str) -> "Iterator[Callable[[float], None] | None]":
    """Yield what shows the share of some work on a terminal; None elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
    console = Console(stderr=True)  # standard output holds the results
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        row = bar.add_task(name, total=1.0)
        yield lambda share: bar.update(row, completed=share)


def step_work(config: "Config", task: int) -> float:
    """Return the work of a whole batch of a task, in arbitrary units: trajectories times nodes."""
    chosen = config.tasks[task]
    return float(chosen.batch_size * max(chosen.size, 10) ** 2)


def total_work(config: "Config") -> float:
    """Return the work of the whole run."""
    return sum(
        task.epochs * task.batches * step_work(config, index)
        for index, task in enumerate(config.tasks)
    )


def work_done(run: "Run") -> float:
    """Return the work of the steps taken."""
    config, learner = run.config, run.learner
    before = sum(
        task.epochs * task.batches * step_work(config, index)
        for index, task in enumerate(config.tasks[: learner.task])
    )
    batches = config.tasks[learner.task].batches
    epochs = learner.epoch + learner.batch / run.method.batches(learner)
    return before + epochs * batches * step_work(config, learner.task)
