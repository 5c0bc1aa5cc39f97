"""Random images need a Euclidean distance: files that have another one are refused at the start."""

from collections.abc import Sequence
from typing import Any

from lifelong_co.errors import ConfigError
from lifelong_co.instance_files.pool import load_instances
from lifelong_co.protocols import Problem
from lifelong_co.tasks.task import Task


def require_turnable(
    tasks: Sequence[Task],
    tests: Sequence[Sequence[Any]],
    problem: Problem,
    *,
    images: bool,
    augment: bool,
) -> None:
    """Raise unless all instances that a run turns have the Euclidean distance.

    Parameters
    ----------
    tasks, tests
        Tasks and their test instances, in batches of one size. A distance that a task itself names
        is not looked at.
    problem
        The problem of the instances.
    images, augment
        Whether training instances, and test instances, are turned.

    Raises
    ------
    ConfigError
        The message names the task.
    """
    for task, groups in zip(tasks, tests, strict=True):
        turned = list(groups) if augment else []
        if images and task.files:
            turned += load_instances(task.files, problem, scale=task.scale)
        if any(getattr(group, "distance", None) is not None for group in turned):
            raise ConfigError(
                "symmetries: expected 'square' for a distance that is not Euclidean, as in the"
                f" files of task {task.label}, got 'random'"
            )
