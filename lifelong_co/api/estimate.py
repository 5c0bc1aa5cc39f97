"""An estimate of a run's time and memory: a few steps and tests of each size, measured."""

import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co import registry
from lifelong_co.config.run_config import Config
from lifelong_co.evaluation import best_costs, instances_at_once
from lifelong_co.learner import before_task, train_batch
from lifelong_co.problems.images import IMAGES
from lifelong_co.protocols import Problem
from lifelong_co.runs.costs import due
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import Run, start
from lifelong_co.runs.warm_start import take_over
from lifelong_co.tasks.instances import testing
from lifelong_co.tasks.task import Task, unique_labels
from lifelong_co.tensors import records

STEPS = 2
"""Least number of measured steps of each size; another one comes first and does not count."""
MOST = 10
"""The most of them: a method may do something in every second or fifth step only."""
PATIENCE = 2.0
"""Seconds after which no more than `STEPS` are measured."""
NOWHERE = Path("no folder: nothing is written")

Shape = tuple[int | str, int]
"""The size and the batch size of a task; for a task of files without a size, the files."""


@attrs.frozen
class Estimate:
    """What a run takes, as far as a few steps can tell."""

    steps: int
    """Training steps of the whole run."""
    training: float
    """Seconds of all steps."""
    testing: float
    """Seconds of all tests."""
    each: Mapping[Shape, float]
    """Seconds of a step of each shape, replay included."""
    buffer: int | None
    """The most bytes that a full buffer holds; None: the method has no buffer of
    experiences."""

    @property
    def seconds(self) -> float:
        """The time of the run."""
        return self.training + self.testing


def estimate(config: Config, learned: int = 0) -> Estimate:
    """Measure a few steps and one batch of tests of each size, and return what the run takes.

    With the first ``learned`` tasks a run is finished and gets the others: then the result is what
    they take, with the tests of earlier parameters on them.

    All sizes are learned in turn, and then once more; only the second time is measured. So the
    steps contain replay, as those of later tasks do. The first task of a run has none and is
    faster. Nothing is written.

    Raises
    ------
    LifelongError
        If the run could not start, e.g. because of an unknown name.
    """
    first = {shape(task): task for task in reversed(config.tasks[learned:])}
    measured = [attrs.evolve(task, tests_of="generator") for task in first.values()]
    tasks = unique_labels((*measured, *measured))
    few = attrs.evolve(config, tasks=tasks, tests=1, loggers=(), start_from="", buffer_from="")
    run, count = start(few, RunFolder(NOWHERE)), len(first)
    if not learned:
        take_over(attrs.evolve(run, config=config))
    for index in range(count):
        learned_briefly(run, index)
    each = {one: learned_briefly(run, count + i, timed=True) for i, one in enumerate(first)}
    steps = steps_of(run, config)[learned:]
    training = sum(
        steps_of_task * each[shape(task)]
        for steps_of_task, task in zip(steps, config.tasks[learned:], strict=True)
    )
    buffer = full_buffer(run)
    tests = seconds_of_tests(run, config, learned)
    return Estimate(sum(steps), training, tests, each, buffer)


def shape(task: Task) -> Shape:
    """Return what the time of a step depends on."""
    return task.size or task.files, task.batch_size


def steps_of(run: Run, config: Config) -> list[int]:
    """Return the steps of each task; the batches of an epoch are the method's choice."""
    method = registry.method(config.method, **config.method_options)
    learner = attrs.evolve(run.learner, tasks=config.tasks)
    steps = []
    for learner.task, task in enumerate(config.tasks):
        count = 0
        for learner.epoch in range(task.epochs):
            count += method.batches(learner)
        steps.append(count)
    return steps


def learned_briefly(run: Run, index: int, *, timed: bool = False) -> float:
    """Take a few steps of a task and end it, as a run does; return the seconds of a step.

    A step in the last epoch is among them, because then methods remember what they need.
    """
    learner, task = run.learner, run.config.tasks[index]
    learner.task, learner.epoch, learner.batch = index, 0, 0
    before_task(run)
    run.method.before_epoch(learner)
    train_batch(run)
    seconds = seconds_of_step(run) if timed else 0.0
    if task.epochs > 1:
        learner.epoch, learner.batch = task.epochs - 1, 0
        run.method.before_epoch(learner)
        train_batch(run)
    run.method.after_epoch(learner)
    run.method.after_task(learner)
    return seconds


def seconds_of_step(run: Run) -> float:
    """Return the mean seconds of a training step of the present task.

    The first step of an epoch is not among them, if there are others: it has checks that they have
    not.
    """
    others = run.method.batches(run.learner) - 1
    began, steps = now(run), 0
    while steps < STEPS or (steps < MOST and now(run) - began < PATIENCE):
        run.learner.batch = 1 + steps % others if others else 0
        train_batch(run)
        steps += 1
    return (now(run) - began) / steps


def seconds_of_tests(run: Run, config: Config, learned: int) -> float:
    """Return the seconds of all tests that `estimate` counts, from one batch of each size."""
    solver, total, measured = run.learner.solver, 0.0, dict[object, float]()
    images = IMAGES if config.augment else 1
    counts = tests_of(run, config, learned)
    for index, task in enumerate(config.tasks):
        task = attrs.evolve(task, tests_of="generator")
        kind = task.size or (task.test_files or task.files)  # files without a size have several
        if kind not in measured:
            solver.module.eval()
            device = torch.device(config.device)
            at_once = instances_at_once(solver, max(task.size, 1), device, images)
            solver.module.train()
            groups = testing(task, solver.problem, min(config.tests, at_once))
            count = sum(records.rows(group) for group in groups)
            began = now(run)
            for group in groups:
                best_costs(solver, group, augment=config.augment, symmetries=config.symmetries)
            measured[kind] = (now(run) - began) / count
        total += measured[kind] * tested(task, solver.problem, config.tests) * counts[index]
    return total


def tested(task: Task, problem: Problem, tests: int) -> int:
    """Return how many instances a test of a task has: files have several sizes, or fewer."""
    if not task.files:
        return tests
    return sum(records.rows(group) for group in testing(task, problem, tests))


def tests_of(run: Run, config: Config, learned: int) -> Counter[int]:
    """Return how often each task, from 0, is tested: after the tasks, and for the curves."""
    counts: Counter[int] = Counter()
    for learning in range(learned):
        counts.update(index for index in due(config, learning) if index >= learned)
    for learning, task in [*enumerate(config.tasks)][learned:]:
        counts.update(due(config, learning))
        for _ in range((task.epochs - 1) // config.curve_every):
            counts.update(due(config, learning, finished=False, restarts=run.method.restarts))
    return counts


def full_buffer(run: Run) -> int | None:
    """Return the most bytes that a full buffer holds: its capacity times its largest item."""
    state = run.method.state_dict().get("buffer")
    options = registry.all_options("method", run.config.method, run.config.method_options)
    if not isinstance(state, Mapping) or not state.get("items") or "buffer_size" not in options:
        return None
    items = int(options["buffer_size"]) // max(1, int(options.get("bundle_size", 1)))
    return max(1, items) * max(map(bytes_of, state["items"]))


def bytes_of(value: Any) -> int:
    """Return the bytes of all tensors in nested dicts and lists."""
    if isinstance(value, Tensor):
        return value.numel() * value.element_size()
    if isinstance(value, Mapping):
        return sum(map(bytes_of, value.values()))
    return sum(map(bytes_of, value)) if isinstance(value, list | tuple) else 0


def now(run: Run) -> float:
    """Return the time in seconds, when the device has finished its work."""
    if run.config.device.startswith("cuda"):
        torch.cuda.synchronize(run.config.device)
    return time.perf_counter()
