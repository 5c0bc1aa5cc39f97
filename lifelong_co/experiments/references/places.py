"""Folders in which references are looked for, in this order: the user's own, then published ones.

Published references belong to the paper's test instances. Their folders are read only for tasks
that are tested on these.
"""

from collections.abc import Sequence
from pathlib import Path

import attrs

from lifelong_co.experiments.references.cache import FOLDER
from lifelong_co.problems.distances import EUCLIDEAN
from lifelong_co.protocols import Problem
from lifelong_co.tasks.instances import papers_own
from lifelong_co.tasks.task import Task


@attrs.frozen
class Places:
    """Where to look; folders need not exist."""

    own: Path = FOLDER
    """References found by `lifelong-co reference`, and files that the user put beside them."""
    published: tuple[Path, ...] = ()
    """Each holds the official test sets' costs in one of the forms that `stored` knows."""

    def named(self, folders: Sequence[Path]) -> str:
        """Return folders that references were found in, for people."""
        return " and ".join(f"{f}" if f == self.own else f"{f} (published)" for f in folders)

    def of(self, task: Task, problem: Problem, tests: int) -> tuple[Path, ...]:
        """Return the folders that may hold references of the task's test instances.

        If there is none, no instance has to be drawn to know that there is no reference.
        """
        own = [self.own] if self.own.is_dir() else []
        others = [folder for folder in self.published if folder.is_dir()]
        official = (
            bool(others)
            and task.distance == EUCLIDEAN
            and papers_own(task, problem, tests) is not None
        )
        return (*own, *(others if official else ()))
