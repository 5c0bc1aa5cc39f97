"""Preparing a run: new in its folder, or resumed to the same bytes."""

from pathlib import Path

from lifelong_co.config.run_config import Config, to_toml
from lifelong_co.runs.data_parallel import ALONE, Ranks
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.resume import resume as load_latest
from lifelong_co.runs.run import Log, Run, load, start
from lifelong_co.runs.warm_start import take_over
from lifelong_co.storage import checkpoint
from lifelong_co.tensors.precision import warn_of_tf32


def prepare(
    config: Config,
    folder: Path,
    *,
    resume: bool = False,
    ranks: Ranks = ALONE,
    log: Log = lambda line: None,  # noqa: ARG005
) -> Run:
    """Return a run that `learner.learn` can begin or go on with.

    Parameters
    ----------
    config
        What to do.
    folder
        The run folder: a new one, or with ``resume`` the folder of an interrupted run.
    resume
        Go on from the latest checkpoint that is whole; without any, from the beginning.
    ranks
        This process among those that learn the run together; all of them prepare it alike.
    log
        Called with the configuration, and with lines about what is resumed.

    Raises
    ------
    ConfigError, UnknownNameError
        If the configuration or the folder cannot be used.
    CheckpointError
        If checkpoints are there and none is whole, or the one that is belongs to another run.
    """
    run = start(config, RunFolder(folder), ranks)
    if not resume:
        take_over(run)  # what cannot be taken over is refused before anything is written
        if ranks.first:
            run.folder.create(config)
        ranks.wait()
    log(to_toml(config))
    warn_of_tf32(config.device, log)
    if resume and not restore(run, log):
        take_over(run)
    return run


def restore(run: Run, log: Log) -> bool:
    """Go on from the latest checkpoint that is whole; return whether there is one.

    Raises
    ------
    CheckpointError
        If checkpoints are there and none is whole, or the one that is belongs to another run.
    """
    path = load_latest(run.folder, lambda state: load(run, state), log, run.ranks)
    if path is None:
        return False
    run.steps = checkpoint.step_of(path)
    log(f"continuing after step {run.steps} from {path}")
    return True
