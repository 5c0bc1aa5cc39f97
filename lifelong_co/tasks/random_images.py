"""Random images need a Euclidean distance: files that have another one are refused at the start."""

from collections.abc import Sequence
from typing import Any

from lifelong_co.errors import ConfigError
from lifelong_co.instance_files.pool import load_instances
from lifelong_co.protocols import Problem
from lifelong_co.tasks.task import Task


def require_turnable(
    tasks: Sequence[Task], tests: Sequence[Sequence[Any]], problem: Problem
) -> None:
    """Raise unless all instances of files have the Euclidean distance.

    It does not matter whether the run takes images: an objective may take them, too.

    Parameters
    ----------
    tasks, tests
        Tasks and their test instances, in batches of one size. A distance that a task itself names
        is not looked at.
    problem
        The problem of the instances.

    Raises
    ------
    ConfigError
        The message names the task.
    """
    for task, groups in zip(tasks, tests, strict=True):
        turned = list(groups)
        if task.files:
            turned += load_instances(task.files, problem, scale=task.scale)
        if any(getattr(group, "distance", None) is not None for group in turned):
            raise ConfigError(
                "symmetries: expected 'square' for a distance that is not Euclidean, as in the"
                f" files of task {task.label}, got 'random'"
            )
