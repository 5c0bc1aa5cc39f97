"""The test instances of a sequence of tasks, kept, or made each time that they are needed."""

from collections.abc import Sequence
from typing import Any, overload

from lifelong_co.protocols import Problem
from lifelong_co.tasks.instances import testing
from lifelong_co.tasks.task import Task


class HeldOut(Sequence[list[Any]]):
    """The test instances of each task, one batch per size, on the CPU (`instances.testing`).

    Parameters
    ----------
    tasks, problem, tests
        The tasks, their problem, and the number of test instances of each.
    keep
        Whether to make those of all tasks at once and keep them. Else each use makes them again,
        the same instances, so that memory does not grow with the number of tasks; and after a task
        only this task and the next one are tested.

    Raises
    ------
    LifelongError
        With ``keep``, if the instances of a task cannot be made; a note of the error names it.
        Without, the error comes when they are needed.
    """

    def __init__(self, tasks: Sequence[Task], problem: Problem, tests: int, *, keep: bool) -> None:
        self.tasks, self.problem, self.tests = tasks, problem, tests
        self.kept = [testing(task, problem, tests) for task in tasks] if keep else None

    def due(self, task: int, finished: bool, *, alone: bool) -> range:
        """Return the tasks to test now: during a task, or when it is finished.

        If all are kept: after a task all, and during a task those learned so far, which give the
        forgetting curve; with ``alone`` only the task. If not: the task itself, after it also the
        next one, and after the last task all.
        """
        if not finished:
            return range(task if alone or self.kept is None else 0, task + 1)
        if self.kept is None and task < len(self) - 1:
            return range(task, task + 2)
        return range(len(self))

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
