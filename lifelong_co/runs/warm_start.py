"""What a run takes over from others before its first step: parameters, experiences."""

import copy
from pathlib import Path

from torch import nn

from lifelong_co.config.run_config import read_config
from lifelong_co.errors import CheckpointError, ConfigError
from lifelong_co.runs.folder import RunFolder, refuse_start
from lifelong_co.runs.run import Run
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.storage import checkpoint


def take_over(run: Run) -> None:
    """Start with the parameters and experiences of the runs that the configuration names.

    Raises
    ------
    ConfigError
        If one of them is no run folder, is of another problem, or has nothing in a buffer; or the
        method keeps none.
    CheckpointError
        If one has no checkpoint, or its parameters do not fit.
    """
    if run.config.start_from:
        take_parameters(run, Path(run.config.start_from))
    if run.config.buffer_from:
        take_buffer(run, Path(run.config.buffer_from))


def take_parameters(run: Run, folder: Path) -> None:
    """Start with the parameters of another run, to which a method that restarts goes back."""
    module = run.learner.solver.module
    load_parameters(module, folder)
    run.learner.initial = copy.deepcopy(module.state_dict())


def load_parameters(module: nn.Module, folder: Path) -> None:
    """Give a solver's module the parameters of a run.

    Raises
    ------
    ConfigError
        If this is no run folder.
    CheckpointError
        If it has no checkpoint, or its parameters do not fit.
    """
    given = load_solver(folder).module.state_dict()
    try:
        module.load_state_dict(given)
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise CheckpointError(
            f"start_from {folder}: does not fit the solver's options ({reason:.200})"
        ) from error


def take_buffer(run: Run, folder: Path) -> None:
    """Offer another run's experiences to the method; any solver may have recorded them."""
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
