"""Further tasks: a run goes on with tasks that arrive after those of its configuration.

Such a run has the parameters and the costs of a run that had all tasks from the beginning, bit for
bit on the CPU.
"""

from collections.abc import Iterable

import attrs

from lifelong_co import registry
from lifelong_co.config.run_config import Config
from lifelong_co.errors import ConfigError
from lifelong_co.runs.costs import due
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import Log, Run
from lifelong_co.runs.task_costs import task_costs
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.tasks.task import Task, unique_labels


def with_tasks(folder: RunFolder, tasks: Iterable[Task], source: str) -> Config:
    """Return the configuration of a finished run with further tasks at the end.

    Parameters
    ----------
    folder
        The run folder; it is only read.
    tasks
        The further tasks; one whose label is taken gets another one, such as ``U20 (2)``.
    source
        Where they come from: the new `Config.order`.

    Raises
    ------
    ConfigError
        If the run is not finished, or its method learns all tasks at once.
    """
    config = folder.config()
    k, learned = len(config.tasks), folder.learned()
    if learned < k:  # else a command that is stopped and given again would add its tasks twice
        raise ConfigError(
            f"{folder.path}: expected a finished run, which can get further tasks, got one that has"
            f" learned {learned} of {k} tasks; resume it without further tasks first"
        )
    if registry.knows_all_tasks(config.method, config.method_options):
        raise ConfigError(
            f"{folder.path}: expected a method that learns one task after another, got"
            f" {config.method!r}, which learns all tasks at once; start a new run with all of them"
        )
    return attrs.evolve(config, tasks=unique_labels((*config.tasks, *tasks)), order=source)


def complete_tests(run: Run, log: Log) -> None:
    """Test what a resumed run has learned on the tasks that it did not have then.

    The parameters after each learned task are loaded from the run folder. Without further tasks
    no test is missing.

    Raises
    ------
    CheckpointError
        If these parameters are not there.
    InvalidRolloutError, NotFiniteError
        As `task_costs.task_costs`.
    """
    learner, tasks = run.learner, run.config.tasks
    learned = learner.task + (learner.epoch == tasks[learner.task].epochs)
    done = {
        (cost.learning - 1, cost.tested - 1)
        for cost in run.costs
        if cost.epoch == tasks[cost.learning - 1].epochs
    }
    for i in range(learned):
        missing = [j for j in due(run.config, i) if (i, j) not in done]
        if missing:
            solver = load_solver(run.folder.path, after=i + 1, device=run.config.device)
            rows = task_costs(run, solver, i, tasks[i].epochs, missing)
            run.journal.add_costs(rows)
            shown = "  ".join(f"{row.name} {row.cost:.3f}" for row in rows)
            log(f"test of the solver after task {tasks[i].label}: cost {shown}")
