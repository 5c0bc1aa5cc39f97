"""The part that runs share: their first task up to its last epoch.

Methods that do nothing before then (`protocols.Method.shares_first_task`) learn what fine-tuning
learns, so one run of fine-tuning on that part serves them all: whoever begins with it ends with the
bytes of a run done alone. Nothing after it can be shared: a run's instances and actions come from
one stream each, whose position depends on all that was learned before.

A method that restarts learns every task as if it were the first, so each of its tasks has such a
part: it is learned once, whatever the orders.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.config.run_config import Config
from lifelong_co.errors import CheckpointError, ConfigError
from lifelong_co.protocols import Method
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import Run, load, save
from lifelong_co.storage import checkpoint

METHOD = "fine-tuning"
# Settings that name where the tasks come from; what is learned they do not change.
NAMES = ("preset", "order")


def first_part(config: Config, method: Method, index: int = 0) -> Config | None:
    """Return the run that is the first part of a task; None if there is nothing to share.

    Parameters
    ----------
    config
        A run.
    method
        That of the run.
    index
        Which task, from 0; another than the first only where the method restarts.
    """
    task = config.tasks[index]
    if not method.shares_first_task or config.buffer_from or task.epochs < 2:
        return None
    if index and not method.restarts:
        return None
    if task.drift_from:  # over fewer epochs it would drift faster
        return None
    return attrs.evolve(
        config,
        method=METHOD,
        method_options={},
        preset="first part",
        order="first part",
        tasks=(attrs.evolve(task, epochs=task.epochs - 1),),
    )


def read_first_parts(run: Run, folders: Sequence[Path]) -> dict[int, dict[str, Any]]:
    """Return the states in which other runs have left shared parts, by task.

    Raises
    ------
    ConfigError
        If the run's method cannot share its first task, or a folder holds something else.
    CheckpointError
        If the other run has not finished.
    """
    return dict(_read(run, folder) for folder in folders)


def _read(run: Run, folder: Path) -> tuple[int, dict[str, Any]]:
    found = RunFolder(folder).config()
    parts = [first_part(run.config, run.method, i) for i in range(len(run.config.tasks))]
    # What belongs to no task is held against the first, to say how it differs.
    alike = (i for i, part in enumerate(parts) if part is not None and part.tasks == found.tasks)
    index = next(alike, 0)
    wanted = parts[index]
    if wanted is None:
        raise ConfigError(
            f"first_task_from {folder}: expected a method that does what {METHOD} does until the"
            f" last of several epochs of the first task, got {run.config.method!r} on"
            f" {run.config.tasks[0].epochs} epochs"
        )
    for field in attrs.fields(Config):
        here, there = getattr(wanted, field.name), getattr(found, field.name)
        if field.name not in NAMES and here != there:
            raise ConfigError(
                f"first_task_from {folder}: expected {field.name} = {here!r}, got {there!r}"
            )
    last = checkpoint.latest(RunFolder(folder).checkpoints)
    if last is None or last[1]["epoch"] != wanted.tasks[0].epochs:
        raise CheckpointError(f"first_task_from {folder}: expected a finished run")
    return index, {**last[1], "steps": checkpoint.step_of(last[0])}


def begin_with(run: Run, state: Mapping[str, Any]) -> None:
    """Continue from the shared part of the present task, as if this run had learned it; save that.

    The task is at its start, and `before_task` has been called.
    """
    learner = run.learner
    number = learner.task + 1
    due = run.config.curve_every
    # The other run knows but one task. It ended here, and tested for that.
    costs = [(number, epoch, number, *rest) for _, epoch, _, *rest in state["costs"]
             if epoch % due == 0]  # fmt: skip
    log = [{**entry, "learning": number} for entry in state["log"]]
    steps = run.steps + state["steps"]
    here = {
        "task": learner.task,
        "method": run.method.state_dict(),
        "costs": [*map(attrs.astuple, run.costs), *costs],
        "log": [*run.log, *log],
    }
    load(run, {**state, **here})
    run.steps = steps
    save(run)
