"""Preparing a run: a new one, or one that continues exactly where it stopped."""

from pathlib import Path

import attrs

from lifelong_co import registry
from lifelong_co.config.brief import brief
from lifelong_co.config.run_config import Config
from lifelong_co.evaluation import note_batches
from lifelong_co.registry.finding import find
from lifelong_co.runs import data_files, provenance, starts
from lifelong_co.runs.data_parallel import ALONE, Ranks
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.further_tasks import admit
from lifelong_co.runs.loggers import loggers_of
from lifelong_co.runs.plugins_used import plugins_used
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
    """Return a run that `learner.learn` can begin or continue.

    Parameters
    ----------
    config
        The configuration of the run; with ``resume`` it may have further tasks.
    folder
        The run folder: a new one, or with ``resume`` the folder of an interrupted run.
    resume
        Continue from the latest complete checkpoint; without one, start from the beginning.
    ranks
        This process among those that learn the run together; each of them prepares the run.
    log
        Called with the main settings, and with lines about the checkpoint that is used.

    Raises
    ------
    ConfigError, UnknownNameError
        If the configuration or the folder cannot be used.
    CheckpointError
        If there are checkpoints and none is complete, or the latest belongs to another run.
    """
    once = registry.knows_all_tasks(config.method, config.method_options)
    learned = RunFolder(folder).learned() if resume and not once else 0
    run = start(config, RunFolder(folder), ranks, learned)
    if not resume:
        taken = take_over(run)  # before anything is written, because it may raise
        for name in config.loggers:
            find("logger", name)  # a wrong name, too, before anything is written
        if ranks.first:
            run.folder.create(config)
        ranks.wait()
    loggers = loggers_of(config.loggers if ranks.first else (), folder)  # one may write to it
    files = data_files.checked(folder, config, learned)
    options = registry.changed_options("method", config.method, config.method_options)
    log(brief(attrs.evolve(config, method_options=options), folder / "config.toml"))
    warn_of_tf32(config.device, log)
    note_batches(run.learner.solver, log)
    restored = resume and restore(run, log)
    if resume and not restored:
        taken = take_over(run)
        starts.require_same(folder, config, taken)
    if run.learner.learned < learned:  # the checkpoint is older than the last learned parameters
        files = data_files.checked(folder, config, run.learner.learned)
    if resume:
        admit(run, log)
    if ranks.first:
        data_files.keep(folder, files)
        if not restored:
            starts.keep(folder, taken)
    if ranks.first and not finished(run):
        made = provenance.present(config.device, ranks.count, plugins_used(config))
        for warning in provenance.differences(folder, made) if resume else ():
            log(warning)
        provenance.note(folder, run.steps, made)
    if loggers.named:
        run.journal.start_loggers(loggers, run.costs)  # last, because the caller closes them
    return run


def finished(run: Run) -> bool:
    """Return whether nothing is left to learn."""
    return run.learner.learned == len(run.config.tasks)


def restore(run: Run, log: Log) -> bool:
    """Continue from the latest complete checkpoint; return False if there is no checkpoint.

    Raises
    ------
    CheckpointError
        If there are checkpoints and none is complete, or the latest belongs to another run.
    """
    path = load_latest(run.folder, lambda state: load(run, state), log, run.ranks)
    if path is None:
        return False
    run.steps = checkpoint.step_of(path)
    log(f"continuing after step {run.steps} from {path}")
    return True
