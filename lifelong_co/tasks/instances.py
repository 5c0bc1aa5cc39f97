"""The training and test instances of a task, from a distribution or from files."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from lifelong_co import registry
from lifelong_co.errors import ComponentError, ConfigError, LifelongError
from lifelong_co.instance_files.pool import InstancePool, load_instances
from lifelong_co.problems.distances import EUCLIDEAN, measured
from lifelong_co.protocols import Distribution, Problem
from lifelong_co.seeding import generator
from lifelong_co.tasks.task import Task
from lifelong_co.tensors import records

# All runs are tested on the same instances, for every seed: `d*` compares costs across runs.
TEST_SEED = 0
# Number of the paper's test instances of each distribution.
PUBLISHED = 1000

Draw = Callable[[torch.Generator, int], Any]
"""Draws a batch of ``B`` instances from a generator, on its device."""


@contextmanager
def _about(task: Task) -> Iterator[None]:
    """Add a note with the task's name to an error."""
    try:
        yield
    except LifelongError as error:
        error.add_note(f"task {task.label}")
        raise


def training(task: Task, problem: Problem) -> Draw:
    """Return the function that draws training batches of a task.

    Instances of files are drawn with replacement, because a file may hold fewer than the budget
    needs. Drift is not applied here (see `drift`).

    Raises
    ------
    LifelongError
        If the distribution or the files cannot be used; a note of the error names the task.
    """
    with _about(task):
        draw = _training(task, problem)
    if task.distance == EUCLIDEAN:
        return draw
    return lambda stream, B: measured(draw(stream, B), task.distance)


def _training(task: Task, problem: Problem) -> Draw:
    if task.files:
        pool = InstancePool(problem, load_instances(task.files, problem, scale=task.scale))
        if task.size and task.size not in pool.sizes:
            sizes = ", ".join(map(str, pool.sizes))
            raise ConfigError(
                f"{task.files}: expected an instance of size {task.size}, got {sizes}"
            )
        return lambda stream, B: pool.sample(B, task.size or None, generator=stream)
    source = _source(task, problem)
    return lambda stream, B: _drawn(source, task, problem, stream, B)


def testing(task: Task, problem: Problem, tests: int) -> list[Any]:
    """Return the test instances of a task, one batch per size, on the CPU.

    - A task with files: the first ``tests`` of each size in its test files, or in its training
      files if it has no test files.
    - A task of the paper with ``tests = 1000``: the paper's 1,000 test instances (`Task.tests_of`).
    - Any other task: drawn from the distribution with a fixed seed.

    The coordinates do not depend on the task's distance.

    Raises
    ------
    LifelongError
        If the distribution or the files cannot be used; a note of the error names the task.
    """
    with _about(task):
        return [measured(group, task.distance) for group in _testing(task, problem, tests)]


def _testing(task: Task, problem: Problem, tests: int) -> list[Any]:
    published = papers_own(task, problem, tests)
    if published is not None:
        return [published]
    if task.tests_of != "generator":
        raise ConfigError(
            f"tests_of {task.tests_of!r}: expected a task of the paper with {PUBLISHED} test "
            f"instances, got {task.label} with {tests}"
        )
    if task.files:
        groups = load_instances(task.test_files or task.files, problem, scale=task.scale)
        if task.size:
            groups = [group for group in groups if problem.size(group) == task.size]
            if not groups:
                place = task.test_files or task.files
                raise ConfigError(f"{place}: expected a test instance of size {task.size}")
        return [records.select(group, slice(tests)) for group in groups]
    source = _source(task, problem)
    stream = stream_of_tests(problem, task.distribution, task.size)
    drawn = _drawn(source, task, problem, stream, tests)
    for name, tensor in records.tensors(drawn).items():  # not in each batch: it takes time
        if bool(tensor.isnan().any()):
            raise ComponentError(
                f"distribution {task.distribution!r}: {name}: expected numbers, got NaN"
            )
    return [drawn]


def _drawn(
    source: Distribution, task: Task, problem: Problem, stream: torch.Generator, B: int
) -> Any:
    """Return ``B`` instances of the task's size in single precision, as networks need them."""
    instances = source.sample(B, task.size, generator=stream)
    if not isinstance(instances, problem.instances_type):
        raise ComponentError(
            f"distribution {task.distribution!r}: expected {problem.instances_type.__name__},"
            f" got {type(instances).__name__}"
        )
    rows, size = records.rows(instances), problem.size(instances)
    if (rows, size) != (B, task.size):
        raise ComponentError(
            f"distribution {task.distribution!r}: expected {B} instances of size {task.size},"
            f" got {rows} of size {size}"
        )
    _require_usable(instances, task)
    return instances


def _require_usable(instances: Any, task: Task) -> None:
    for name, tensor in records.tensors(instances).items():
        if tensor.is_floating_point() and tensor.dtype != torch.float32:
            raise ComponentError(
                f"distribution {task.distribution!r}: {name}: expected float32, got {tensor.dtype}"
            )
        if tensor.requires_grad:  # the network would be blamed for a parameter of another one
            raise ComponentError(
                f"distribution {task.distribution!r}: {name}: expected a tensor without gradients"
            )


def _source(task: Task, problem: Problem) -> Distribution:
    # A distribution that takes no attributes still draws for all tasks that have none.
    options: dict[str, Any] = {"attributes": task.attributes} if task.attributes else {}
    return registry.distribution(
        task.distribution, problem, variant=task.variant, capacity=task.capacity, **options
    )


def papers_own(task: Task, problem: Problem, tests: int) -> Any | None:
    """Return the paper's 1,000 test instances if the task is tested on them, else None."""
    official = task.variant == "official" and task.capacity is None and not task.attributes
    if not (task.distribution and official and tests == PUBLISHED):
        return None
    source = registry.distribution(task.distribution, problem, variant=task.variant, capacity=None)
    if not hasattr(source, "testset"):
        return None
    published = registry.testset(problem, task.distribution, task.tests_of)
    if (records.rows(published), problem.size(published)) != (PUBLISHED, task.size):
        return None
    _require_usable(published, task)
    return published


def stream_of_tests(
    problem: Problem, distribution: str, size: int, seed: int = TEST_SEED
) -> torch.Generator:
    """Return the random stream for the test instances of a distribution."""
    return generator(seed, f"test {problem.name} {distribution} {size}")
