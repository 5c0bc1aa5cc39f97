"""What an epoch of a run learns, as a log line or a message says it."""

from lifelong_co.runs.run import Run

ALL = "all tasks"
"""The name of what a method learns that learns all tasks at once."""


def what_it_learns(run: Run, epoch: int) -> tuple[str, int, int]:
    """Return what an epoch of the present task learns, its number and how many epochs that takes.

    Parameters
    ----------
    epoch
        From 0, within the task.

    Returns
    -------
    The task's label, the epoch's number from 1 and the task's epochs. A method that learns all
    tasks at once learns no single one: the name is then `ALL`, and the epochs of the whole run
    count.
    """
    tasks, present = run.config.tasks, run.learner.task
    if not run.method.knows_all_tasks:
        return tasks[present].label, epoch + 1, tasks[present].epochs
    before = sum(each.epochs for each in tasks[:present])
    return ALL, before + epoch + 1, sum(each.epochs for each in tasks)
