"""Learning a sequence of tasks: what ``lifelong-co run`` does, as a function."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.api.progress import Quiet, Shown, watching
from lifelong_co.api.stored import StoredRun, folder_of, listed, load
from lifelong_co.config.resolve import resolve
from lifelong_co.config.run_config import Config
from lifelong_co.config.task_file import read_tasks, with_whole_paths
from lifelong_co.errors import ConfigError, LifelongError, naming
from lifelong_co.experiments.comparison.publish import write_run_report
from lifelong_co.experiments.references.gaps import mean_references
from lifelong_co.experiments.references.places import Places
from lifelong_co.learner import learn as learn_tasks
from lifelong_co.runs.data_parallel import ALONE, Ranks
from lifelong_co.runs.folder import RunFolder, fresh_folder
from lifelong_co.runs.further_tasks import with_tasks
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import Run, Stop
from lifelong_co.runs.workplace import at_work
from lifelong_co.tasks.task import Task, drifting, unique_labels
from lifelong_co.tensors.device import chosen_device

TASKS = "tasks"
"""The order in the configuration of a run whose tasks a program gives."""


def learn(
    *,
    solver: str | None = None,
    problem: str | None = None,
    method: str | None = None,
    preset: str = "small",
    tasks: Sequence[Task] | Path | str | None = None,
    order: int | str | None = None,
    seed: int = 0,
    device: str = "auto",
    out: Path | str | None = None,
    progress: bool = True,
    loggers: Sequence[str] = (),
    solver_options: dict[str, Any] | None = None,
    method_options: dict[str, Any] | None = None,
    **settings: Any,
) -> StoredRun:
    """Learn tasks one after another, test on all of them after each, and write a run folder.

    It does what ``lifelong-co run`` does, and its folder is the same. Ctrl-C, or the stop button of
    a notebook, ends it at once; `resume` then continues from the last finished epoch.

    Parameters
    ----------
    solver, problem, method
        Registered names, e.g. ``pomo``, ``cvrp`` and ``llr-bc``. None: those of the preset.
    preset
        ``small``, ``demo``, ``paper`` or ``paper-economy``.
    tasks
        The tasks in the order of arrival, or the path of a task file. None: those of the preset.
    order
        One of the paper's orders, 1 to 5, at the sizes of the preset, or a named one such as
        ``variants``, in place of ``tasks``.
    seed
        Seed of all random numbers, at least 0.
    device
        ``auto`` (a GPU if there is one), ``cpu``, ``cuda`` or ``cuda:1``.
    out
        The run folder, new or empty. None: a new folder in ``runs/``.
    progress
        Whether to show the progress: a bar on a terminal, otherwise one line for each epoch.
    loggers
        Registered loggers that get the losses and costs, e.g. ``csv``.
    solver_options, method_options
        Override single options of the preset.
    **settings
        All others of `config.resolve.resolve`, e.g. ``learning_rate=2e-4`` or ``tests=100``.
        ``start_from`` and ``buffer_from`` are runs or their folders.

    Returns
    -------
    StoredRun
        The finished run.

    Raises
    ------
    ConfigError, UnknownNameError
        If a value or a name is invalid, or ``out`` is not empty.
    CheckpointError
        If a run to start from has no usable checkpoint.
    NotFiniteError, ComponentError
        If a loss is not finite, or a component breaks its contract. The run can be resumed.
    """
    for name in ("start_from", "buffer_from"):
        if settings.get(name) is not None:
            settings[name] = folder_of(settings[name])
    if tasks is not None and order is not None:
        raise ConfigError("tasks: expected an order or tasks, got both")
    config = resolve(
        solver=solver,
        problem=problem,
        method=method,
        preset=preset,
        order=order,
        tasks_file=Path(tasks) if isinstance(tasks, Path | str) else None,
        seed=seed,
        device=chosen_device(device),
        solver_options=solver_options,
        method_options=method_options,
        loggers=listed("loggers", loggers, "registered names"),
        **settings,
    )
    if tasks is not None and not isinstance(tasks, Path | str):
        arriving = unique_labels(of_program(tasks, settings))
        config = attrs.evolve(config, tasks=arriving, order=TASKS)
    folder = fresh_folder(Path("runs") / run_name(config)) if out is None else Path(out)
    return _carried_out(config, folder, resume=False, progress=progress)


def of_program(tasks: Iterable[Task], settings: dict[str, Any]) -> tuple[Task, ...]:
    """Return the tasks that a program gives, as a configuration has them.

    Their paths are absolute, so that the run can be resumed in any folder.

    Raises
    ------
    ConfigError
        If there is none, or one is not a `Task`.
    """
    chosen: tuple[Task, ...] = listed("tasks", tasks, "lifelong_co.Task objects")
    for task in chosen:
        if not isinstance(task, Task):
            raise ConfigError(f"tasks: expected lifelong_co.Task objects, got {task!r}")
    if not chosen:
        raise ConfigError("tasks: expected at least one task, got none")
    chosen = tuple(with_whole_paths(task, Path()) for task in chosen)
    if settings.get("drift"):
        chosen = drifting(chosen)
    if (tests_of := settings.get("tests_of")) is not None:
        chosen = tuple(attrs.evolve(task, tests_of=tests_of) for task in chosen)
    return chosen


def resume(
    run: StoredRun | Path | str,
    *,
    tasks: Sequence[Task] | Path | str | None = None,
    progress: bool = True,
) -> StoredRun:
    """Continue a run from its latest checkpoint, and return it finished.

    Parameters
    ----------
    run
        An interrupted run, or with ``tasks`` a finished one, or its folder.
    tasks
        Further tasks, or the path of a task file: they arrive after those that the run has. The
        run then equals one that had all tasks from the beginning (`runs.further_tasks`).
    progress
        As in `learn`.

    Raises
    ------
    ConfigError, CheckpointError
        If the folder is no run, its checkpoint or a task cannot be used, or the run gets further
        tasks and is not finished, or its method learns all tasks at once.
    """
    stored = load(folder_of(run))
    config = stored.config
    if tasks is not None:
        config = further(stored.folder, tasks)
    chosen_device(config.device)  # the run may come from another machine
    return _carried_out(config, stored.folder, resume=True, progress=progress)


def further(folder: Path, tasks: Sequence[Task] | Path | str) -> Config:
    """Return the configuration of a run with further tasks; see `further_tasks.with_tasks`."""
    if isinstance(tasks, Path | str):
        return with_tasks(RunFolder(folder), read_tasks(Path(tasks)), str(tasks))
    return with_tasks(RunFolder(folder), of_program(tasks, {}), TASKS)


def _carried_out(config: Config, folder: Path, *, resume: bool, progress: bool) -> StoredRun:
    with at_work(folder, new=not resume):
        run = carry_out(config, folder, resume=resume, progress=progress)
        write_run_report(folder, references=mean_references(config, Places(), run.tests))
    return load(folder)


def carry_out(
    config: Config,
    folder: Path,
    *,
    resume: bool,
    ranks: Ranks = ALONE,
    stop: Stop = lambda: False,
    progress: bool = True,
) -> Run:
    """Prepare and learn a run inside `runs.workplace.at_work`, and show its progress.

    Parameters
    ----------
    config, folder, resume, ranks
        See `runs.prepare.prepare`.
    stop
        See `learner.learn`.
    progress
        Whether it is shown.
    """
    showing: AbstractContextManager[Shown] = watching() if progress else nullcontext(Quiet())
    with showing as shown:
        with _naming(config, folder) if resume else nullcontext():
            run = prepare(config, folder, resume=resume, ranks=ranks, log=shown.log)
        try:
            learn_tasks(run, stop=stop, on_step=shown.on_step, log=shown.log)
        except BaseException:
            with suppress(LifelongError, OSError):  # the first error counts
                run.journal.close_loggers()
            raise
        run.journal.close_loggers()
        return run


def _naming(config: Config, folder: Path) -> AbstractContextManager[None]:
    """Add to errors where a wrong setting of a resumed run can be."""
    stored = RunFolder(folder).config()
    return naming(folder / "config.toml", "" if stored == config else config.order)


def run_name(config: Config) -> str:
    """Return the name of the folder of a run for which the user gives none."""
    variant = config.method_options.get("ablation") or config.method
    return f"{config.problem}-{config.solver}-{variant}-{config.preset}-{config.seed}"
