"""Folders in which references are looked for: first the user's folder, then published ones.

Published references belong to the paper's test instances. Their folders are read only for tasks
that are tested on these instances.
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
    """The folders of references; they need not exist."""

    own: Path = FOLDER
    """References found by `lifelong-co reference`, and published files that the user put there."""
    published: tuple[Path, ...] = ()
    """Folders with the costs of the official test sets, in one of the forms of `stored`."""

    def named(self, folders: Sequence[Path]) -> str:
        """Return the names of some folders as text."""
        return " and ".join(f"{f}" if f == self.own else f"{f} (published)" for f in folders)

    def of(self, task: Task, problem: Problem, tests: int) -> tuple[Path, ...]:
        """Return the folders that may hold references of the task's test instances.

        If there is no such folder, the test instances need not be drawn.
        """
        own = [self.own] if self.own.is_dir() else []
        others = [folder for folder in self.published if folder.is_dir()]
        official = (
            bool(others)
            and task.distance == EUCLIDEAN
            and papers_own(task, problem, tests) is not None
        )
        return (*own, *(others if official else ()))
