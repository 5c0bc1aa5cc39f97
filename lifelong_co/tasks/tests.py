"""The test instances of a sequence of tasks, kept, or made each time that they are needed."""

from collections.abc import Sequence
from typing import Any, overload

from lifelong_co.protocols import Problem
from lifelong_co.tasks.instances import testing
from lifelong_co.tasks.task import Task


class Tests(Sequence[list[Any]]):
    """The test instances of each task, one batch per size, on the CPU (`instances.testing`).

    Parameters
    ----------
    tasks, problem, tests
        The tasks, their problem, and the number of test instances of each.
    keep
        Whether to make those of all tasks at once and keep them. Else each use makes them again,
        which is the same instances, so that the memory does not grow with the number of tasks.

    Raises
    ------
    LifelongError
        With ``keep``, if the instances of a task cannot be made; a note of the error names it.
        Without, the error comes when they are needed.
    """

    def __init__(self, tasks: Sequence[Task], problem: Problem, tests: int, *, keep: bool) -> None:
        self.tasks, self.problem, self.tests = tasks, problem, tests
        self.kept = [testing(task, problem, tests) for task in tasks] if keep else None

    def __len__(self) -> int:
        return len(self.tasks)

    @overload
    def __getitem__(self, index: int) -> list[Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[list[Any]]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if self.kept is not None:
            return self.kept[index]
        if isinstance(index, slice):
            return [testing(task, self.problem, self.tests) for task in self.tasks[index]]
        return testing(self.tasks[index], self.problem, self.tests)
