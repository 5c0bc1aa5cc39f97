"""Further tasks: a finished run goes on with tasks that arrive after those that it has.

It then has the parameters and the metrics of a run that had all tasks from the beginning, bit for
bit on the CPU.
"""

from collections.abc import Sequence

import attrs

from lifelong_co import registry
from lifelong_co.config.run_config import Config
from lifelong_co.errors import CheckpointError, ConfigError
from lifelong_co.runs.costs import due
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import Log, Run, save
from lifelong_co.runs.task_costs import task_costs
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.tasks.task import Task, unique_labels


def with_tasks(folder: RunFolder, tasks: Sequence[Task], source: str) -> Config:
    """Return the configuration of a run with further tasks at the end.

    Parameters
    ----------
    folder
        The run folder; it is only read.
    tasks
        The further tasks. One whose label is taken gets another one, such as ``U20 (2)``.
    source
        Where they come from: the new `Config.order`.

    Raises
    ------
    ConfigError
        If these are the last tasks of the run already, with the same names or without any, or if
        the method learns all tasks at once.
    """
    config = folder.config()
    if registry.knows_all_tasks(config.method, config.method_options):
        raise ConfigError(
            f"{folder.path}: expected a method that learns one task after another, got"
            f" {config.method!r}, which learns all tasks at once; start a new run with all of them"
        )
    last, before = config.tasks[-len(tasks) :], config.tasks[: -len(tasks)]
    labels = [task.label for task in unique_labels((*before, *tasks))[len(before) :]]
    if len(last) == len(tasks) and all(map(_same, last, tasks, labels)):
        raise ConfigError(
            f"{folder.path}: expected tasks that come after those of the run, got its last ones"
            f" again ({', '.join(task.label for task in last)}); resume it without them; for new"
            " instances, write new files; to learn the same ones once more, give another name"
        )
    return attrs.evolve(config, tasks=unique_labels((*config.tasks, *tasks)), order=source)


def refuse_unfinished(folder: RunFolder, learned: int) -> None:
    """Raise an error if a run has not learned all of its tasks: it cannot get further ones."""
    known = len(folder.config().tasks)
    if learned < known:
        raise ConfigError(
            f"{folder.path}: expected a finished run, which can get further tasks, got one that"
            f" has learned {learned} of {known} tasks; resume it without further tasks first"
        )


def _same(old: Task, new: Task, label: str) -> bool:
    """Return whether a task is one of the run, under the label that it would get."""
    named = not new.name or old.label == label
    return named and attrs.evolve(old, name="") == attrs.evolve(new, name="")


def admit(run: Run, log: Log) -> None:
    """Give a resumed run the tasks that its configuration has beyond that of its folder.

    What the run has learned before is tested on them. Then the configuration and these tests are
    saved. A run that was killed in between goes on from there.

    Raises
    ------
    ConfigError
        If there are further tasks, but not all earlier ones are learned.
    CheckpointError
        If the parameters after an earlier task are not there.
    InvalidRolloutError, ComponentError
        As `task_costs.task_costs`.
    """
    known, learned = len(run.folder.config().tasks), run.learner.learned
    further = len(run.config.tasks) > known
    if run.ranks.any(further and learned < known):
        refuse_unfinished(run.folder, learned)
    added = run.ranks.first and _complete_tests(run, log)
    if run.ranks.first and further:
        run.folder.rewrite(run.config)
    if run.ranks.any(added):
        save(run)


def _complete_tests(run: Run, log: Log) -> bool:
    """Make the tests that are missing after the learned tasks; return whether there are any."""
    tasks, added = run.config.tasks, False
    done = {
        (cost.learning - 1, cost.tested - 1)
        for cost in run.costs
        if cost.epoch == tasks[cost.learning - 1].epochs
    }
    for i in range(run.learner.learned):
        missing = [j for j in due(run.config, i) if (i, j) not in done]
        if missing:
            place = run.folder.after_task(i + 1)
            if not place.is_dir():
                raise CheckpointError(
                    f"{place}: expected the parameters after task {tasks[i].label}, which are"
                    " needed to test them on further tasks, found none"
                )
            solver = load_solver(run.folder.path, after=i + 1, device=run.config.device)
            rows = task_costs(run, solver, i, tasks[i].epochs, missing)
            run.journal.add_costs(rows)
            added = True
            shown = "  ".join(f"{row.name} {row.cost:.3f}" for row in rows)
            log(f"test of the solver after task {tasks[i].label}: cost {shown}")
    return added
