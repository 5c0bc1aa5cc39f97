"""Warm start: a run takes over parameters or experiences of other runs before its first step."""

import copy
from pathlib import Path

from torch import nn

from lifelong_co.config.run_config import Config, read_config
from lifelong_co.errors import CheckpointError, ConfigError
from lifelong_co.runs.folder import STARTS, RunFolder, refuse_start
from lifelong_co.runs.run import Run
from lifelong_co.runs.starts import digest
from lifelong_co.runs.trained_solver import load_solver_and_path
from lifelong_co.storage import checkpoint


def take_over(run: Run) -> dict[str, str]:
    """Take over the parameters and the experiences of the runs that the configuration names.

    Returns
    -------
    The hash of each checkpoint that was taken, by the name of the setting.

    Raises
    ------
    ConfigError
        If a folder is not a run folder, if the run has another problem or an empty buffer, or if
        this run's method has no buffer.
    CheckpointError
        If a run has no checkpoint, or its parameters do not fit.
    """
    taken = {}
    if run.config.start_from:
        module = run.learner.solver.module
        taken["start_from"] = digest(load_parameters(module, Path(run.config.start_from)))
        run.learner.initial = copy.deepcopy(module.state_dict())  # for a method that restarts
    if run.config.buffer_from:
        taken["buffer_from"] = digest(take_buffer(run, Path(run.config.buffer_from)))
    return taken


def left_behind(config: Config) -> tuple[str, ...]:
    """Return the tasks of ``start_from`` of which a run begins with the parameters alone.

    Empty if that folder is of no lifelong run, or if the run takes experiences of another run.

    Raises
    ------
    ConfigError
        If ``start_from`` is not a run folder.
    """
    if not config.start_from or config.buffer_from:
        return ()
    source = read_config(Path(config.start_from))
    return () if source.method in STARTS else tuple(task.label for task in source.tasks)


def load_parameters(module: nn.Module, folder: Path) -> Path:
    """Load the latest parameters of a run into a solver's module; return the checkpoint.

    Raises
    ------
    ConfigError
        If ``folder`` is not a run folder.
    CheckpointError
        If the run has no checkpoint, or its parameters do not fit.
    """
    given, path = load_solver_and_path(folder)
    try:
        module.load_state_dict(given.module.state_dict())
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise CheckpointError(
            f"start_from {folder}: does not fit the solver's options ({reason:.200})"
        ) from error
    return path


def take_buffer(run: Run, folder: Path) -> Path:
    """Offer another run's experiences to the method; they may come from another solver.

    Returns the checkpoint.

    Raises
    ------
    ConfigError
        If the folder is not a lifelong run on the same problem, or the method cannot use it.
    CheckpointError
        If the run has no checkpoint with experiences, or they cannot be read.
    """
    config = read_config(folder)
    refuse_start(config, folder)
    problem = config.problem
    if problem != run.config.problem:
        raise ConfigError(
            f"buffer_from {folder}: expected a run on {run.config.problem!r}, got {problem!r}"
        )
    found = checkpoint.latest(RunFolder(folder).checkpoints)
    if found is None or "method" not in found[1]:
        raise CheckpointError(f"buffer_from {folder}: expected a run with a checkpoint, found none")
    try:
        run.method.adopt(run.learner, found[1]["method"])
    except (ConfigError, CheckpointError) as error:
        raise type(error)(f"buffer_from {folder}: {error}") from error
    return found[0]
