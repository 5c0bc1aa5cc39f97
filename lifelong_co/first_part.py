"""The part that runs share: their first task up to its last epoch.

Methods that do nothing before then (`protocols.Method.shares_first_task`) learn what fine-tuning
learns, so one run of fine-tuning on that part serves them all: whoever begins with it ends with the
bytes of a run done alone. Nothing after it can be shared: a run's instances and actions come from
one stream each, whose position depends on all that was learned before, so `restart` on a task is
another run in another order.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from lifelong_co import checkpoint
from lifelong_co.config import Config
from lifelong_co.errors import CheckpointError, ConfigError
from lifelong_co.protocols import Method
from lifelong_co.run import Run, load, new_optimizer, save
from lifelong_co.run_folder import RunFolder

METHOD = "fine-tuning"
# Settings that name where the tasks come from; what is learned they do not change.
NAMES = ("preset", "order")


def first_part(config: Config, method: Method) -> Config | None:
    """Return the run that is the first part of this one; None if there is nothing to share.

    Parameters
    ----------
    config
        A run.
    method
        That of the run.
    """
    first = config.tasks[0]
    if not method.shares_first_task or config.buffer_from or first.epochs < 2:
        return None
    if first.drift_from:  # over fewer epochs it would drift faster
        return None
    return attrs.evolve(
        config,
        method=METHOD,
        method_options={},
        preset="first part",
        order="first part",
        tasks=(attrs.evolve(first, epochs=first.epochs - 1),),
    )


def read_first_part(run: Run, folder: Path) -> dict[str, Any]:
    """Return the state in which another run has left the shared part.

    Raises
    ------
    ConfigError
        If the run's method cannot share its first task, or the folder holds something else.
    CheckpointError
        If the other run has not finished.
    """
    wanted, found = first_part(run.config, run.method), RunFolder(folder).config()
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
    return {**last[1], "steps": checkpoint.step_of(last[0])}


def begin_with(run: Run, state: Mapping[str, Any]) -> None:
    """Continue from the shared part, as if this run had learned it, and save that."""
    learning = run.learning
    learning.optimizer = new_optimizer(run.config, learning)
    run.method.before_task(learning)  # all that the method has done so far
    due = run.config.curve_every
    # The other run ended here, and tested for that.
    costs = [cost for cost in state["costs"] if cost[1] % due == 0]
    load(run, {**state, "method": run.method.state_dict(), "costs": costs})
    run.steps = state["steps"]
    save(run)
