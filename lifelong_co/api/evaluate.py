"""Testing the solver of a run on tasks: what ``lifelong-co evaluate`` does, as functions."""

import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.api.stored import StoredRun, folder_of, listed
from lifelong_co.config.run_config import Config
from lifelong_co.config.task_file import with_whole_paths
from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.evaluation import best_costs, named_test
from lifelong_co.protocols import Solver
from lifelong_co.runs.data_files import changed_tests, read
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.tasks.instances import testing
from lifelong_co.tasks.task import Task, unique_labels
from lifelong_co.tensors.device import chosen_device
from lifelong_co.validators import truth, whole


def evaluate(
    run: StoredRun | Path | str,
    tasks: Sequence[str | Task] | None = None,
    *,
    files: Sequence[Path | str] = (),
    scale: bool = False,
    tests: int | None = None,
    after: int | None = None,
    augment: bool = False,
    device: str = "auto",
) -> dict[str, float]:
    """Test the trained solver of a run, and return the mean cost on each task, in the unit square.

    Parameters
    ----------
    run
        A run or its folder.
    tasks
        Tasks of the run by name, e.g. ``E50``, new ones such as ``U:20`` or ``U:20:manhattan``, or
        `Task` objects. None: all tasks of the run, or with ``files`` none. A task that comes again
        is tested once; another task with the same label gets a number.
    files
        Files of instances, ``.npz``, ``.vrp``, ``.tsp`` or Solomon's ``.txt``, or folders of those.
    scale
        Scale each instance of an ``.npz`` file into the unit square. Others always are.
    tests
        Test instances of each task, at least 1; None: as in the run, or all of a file.
    after
        The number of learned tasks, from 1; None: the latest checkpoint.
    augment
        Solve also the eight images of each instance; the best solution counts.
    device
        ``auto``, ``cpu``, ``cuda`` or ``cuda:1``.

    Raises
    ------
    ConfigError, CheckpointError, UnknownNameError, FileFormatError
        If the run, its checkpoint or a task cannot be used.
    InvalidRolloutError
        If a solution is not feasible.
    """
    folder = folder_of(run)
    if tests is not None:
        whole("tests", tests, 1)
    scale, augment = truth("scale", scale), truth("augment", augment)
    config = RunFolder(folder).config()
    named = () if tasks is None else listed("tasks", tasks, "names or lifelong_co.Task objects")
    paths = listed("files", files, "paths")
    if tasks is not None and not named and not paths:
        raise ConfigError("tasks: expected at least one task, or None for those of the run")
    own = chosen_tasks(named, config.tasks) if named or not paths else ()
    chosen = with_files(own, map(Path, paths), scale)
    for line in changes(folder, config, own):
        warnings.warn(line, stacklevel=2)
    solver = load_solver(folder, after=after, device=chosen_device(device))
    return {
        task.label: float(costs.mean())
        for task, _, costs in tested(solver, config, chosen, tests, folder, augment=augment)
    }


def changes(run: Path, config: Config, tasks: Sequence[Task]) -> Iterator[str]:
    """Yield a message for each task of a run, among others, whose tests have changed since."""
    places = {task.test_files or task.files for task in tasks}
    labels = [own.label for own in config.tasks if (own.test_files or own.files) in places]
    for line in changed_tests(read(run), config, labels):
        yield f"{line}; these are the costs of other instances"


def tested(
    solver: Solver,
    config: Config,
    tasks: Iterable[Task],
    tests: int | None,
    run: Path,
    *,
    augment: bool,
) -> Iterator[tuple[Task, list[Any], Tensor]]:
    """Yield each task with its test instances, in groups of one size, and the costs of all.

    The costs have the shape ``[tests]`` and the type float64. Decoding is greedy from every node
    (INViT: from one); the best solution of an instance counts. Without ``tests`` there are as many
    instances as in the run, or all of the files that are no task of it.

    Raises
    ------
    InvalidRolloutError
        If a solution is not feasible; the error names the task and the folder ``run``.
    """
    for task in tasks:
        groups = testing(task, solver.problem, number(task, config, tests))
        with named_test(f"task {task.label} of {run}, by solver {config.solver!r}"):
            found = [
                best_costs(solver, group, augment=augment, symmetries=config.symmetries)
                for group in groups
            ]
        yield task, groups, torch.cat(found).double()


def with_files(tasks: Iterable[Task], paths: Iterable[Path], scale: bool) -> list[Task]:
    """Return tasks, and one for each path; no path has the label of a task or of another path."""
    own = tuple(tasks)
    found = (of_files(path, scale) for path in paths)
    return [*own, *unique_labels((*own, *found))[len(own) :]]


def of_files(path: Path, scale: bool) -> Task:
    """Return a task that is tested on the instances of a file or folder, in the unit square."""
    return Task(name=str(path), files=str(path), scale=scale, epochs=1, batches=1, batch_size=1)


def number(task: Task, config: Config, tests: int | None) -> int:
    """Return the number of test instances of a task, of each size if its instances are files'."""
    # Its label can have a number here, and other tests if it has a distribution.
    of_run = task.distribution or any(
        attrs.evolve(task, name=own.name, tests_of=own.tests_of) == own for own in config.tasks
    )
    return tests or (config.tests if of_run else sys.maxsize)


def chosen_tasks(names: Sequence[str | Task] | None, known: Sequence[Task]) -> list[Task]:
    """Return tasks by name (`find`), each once; all known ones if there are no names."""
    if not names:
        return list(known)
    chosen = [find(name, known) if isinstance(name, str) else name for name in names]
    for task in chosen:
        if not isinstance(task, Task):
            raise ConfigError(f"tasks: expected names or lifelong_co.Task objects, got {task!r}")
    # A task of the run has whole paths; its label stays as it is, whatever version learned it.
    chosen = [task if task in known else with_whole_paths(task, Path()) for task in chosen]
    tests = {_without_budget(task): task for task in chosen}
    return list(unique_labels(tuple(tests.values())))


def _without_budget(task: Task) -> Task:
    """Return what decides the label and the test instances of a task."""
    same = attrs.evolve(task, epochs=1, batches=1, batch_size=1, last_batch_size=None)
    # With files a capacity is only that of the distribution that they drift from.
    capacity = None if task.files else task.capacity
    return attrs.evolve(same, name=task.label, drift_from="", capacity=capacity)


def find(name: str, tasks: Sequence[Task]) -> Task:
    """Return a task of the run by name, or a new task from ``DISTRIBUTION:SIZE[:DISTANCE]``.

    Raises
    ------
    UnknownNameError
        If the name is neither.
    """
    for one in tasks:
        if one.label == name:
            return one
    distribution, _, rest = name.partition(":")
    size, _, distance = rest.partition(":")
    if size.isdecimal():
        task = Task(distribution=distribution, size=int(size), epochs=1, batches=1, batch_size=1)
        return attrs.evolve(task, distance=distance) if distance else task
    known = [one.label for one in tasks]
    raise UnknownNameError("task", name, known, "Or give a distribution and a size, e.g. U:20.")
