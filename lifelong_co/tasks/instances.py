"""Where the instances of a task come from: a distribution or files, to train on and to test on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from lifelong_co import registry
from lifelong_co.errors import ConfigError, LifelongError
from lifelong_co.instance_files.pool import InstancePool, load_instances
from lifelong_co.problems.distances import EUCLIDEAN, measured
from lifelong_co.protocols import Problem
from lifelong_co.seeding import generator
from lifelong_co.tasks.task import Task
from lifelong_co.tensors import records

# Test instances are the same for every run, whatever its seed: else `d*` would compare nothing.
TEST_SEED = 0
# How many test instances of each distribution the paper has.
PUBLISHED = 1000

Draw = Callable[[torch.Generator], Any]


@contextmanager
def _about(task: Task) -> Iterator[None]:
    """Note on an error which task it is about: a sequence may have many."""
    try:
        yield
    except LifelongError as error:
        error.add_note(f"task {task.label}")
        raise


def training(task: Task, problem: Problem) -> Draw:
    """Return a function that draws a training batch from a generator, on its device.

    Files are drawn from with replacement, since a stream may be shorter than the budget. Batches
    are of the task's own distribution, whether it drifts (`drift`) or not.
    """
    with _about(task):
        draw = _training(task, problem)
    if task.distance == EUCLIDEAN:
        return draw
    return lambda stream: measured(draw(stream), task.distance)


def _training(task: Task, problem: Problem) -> Draw:
    if task.files:
        pool = InstancePool(problem, load_instances(task.files, problem))
        if task.size and task.size not in pool.sizes:
            sizes = ", ".join(map(str, pool.sizes))
            raise ConfigError(
                f"{task.files}: expected an instance of size {task.size}, got {sizes}"
            )
        return lambda stream: pool.sample(task.batch_size, task.size or None, generator=stream)
    source = registry.distribution(
        task.distribution, problem, variant=task.variant, capacity=task.capacity
    )
    return lambda stream: source.sample(task.batch_size, task.size, generator=stream)


def testing(task: Task, problem: Problem, tests: int) -> list[Any]:
    """Return the test instances of a task, one batch per size, on the CPU.

    They are the paper's own 1,000 where the task is the paper's and 1,000 are asked for; else drawn
    from the distribution with a fixed seed; else those of the test files, or of the training files
    when there are none (the first ``tests`` of each size). They are the same under each distance.
    """
    with _about(task):
        return [measured(group, task.distance) for group in _testing(task, problem, tests)]


def _testing(task: Task, problem: Problem, tests: int) -> list[Any]:
    if task.files:
        groups = load_instances(task.test_files or task.files, problem)
        if task.size:
            groups = [group for group in groups if problem.size(group) == task.size]
            if not groups:
                place = task.test_files or task.files
                raise ConfigError(f"{place}: expected a test instance of size {task.size}")
        return [records.select(group, slice(tests)) for group in groups]
    published = papers_own(task, problem, tests)
    if published is not None:
        return [published]
    source = registry.distribution(
        task.distribution, problem, variant=task.variant, capacity=task.capacity
    )
    stream = stream_of_tests(problem, task.distribution, task.size)
    return [source.sample(tests, task.size, generator=stream)]


def papers_own(task: Task, problem: Problem, tests: int) -> Any | None:
    """Return the paper's own 1,000 test instances where a task is tested on them; else None."""
    official = task.variant == "official" and task.capacity is None
    if not (task.distribution and official and tests == PUBLISHED):
        return None
    source = registry.distribution(task.distribution, problem, variant=task.variant, capacity=None)
    if not hasattr(source, "testset"):
        return None
    published = registry.testset(problem, task.distribution)
    return published if problem.size(published) == task.size else None


def stream_of_tests(
    problem: Problem, distribution: str, size: int, seed: int = TEST_SEED
) -> torch.Generator:
    """Return the stream that test instances of a distribution are drawn from."""
    return generator(seed, f"test {problem.name} {distribution} {size}")
