"""Runs as jobs of a cluster, through submitit (extra ``cluster``): Slurm, or its local stand-in.

submitit hands a function to the job by pickle, in the sweep's own folder; what is handed over is
`run_command` and its strings.
"""

import importlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.sweep.engines import ONE_THREAD, Handle, command

INSTALL = "install it with: pip install 'lifelong-co[cluster]'"


def run_command(arguments: Sequence[str], log: str) -> int:
    """Carry out a command inside a job and return its exit status; SIGTERM is passed on to it."""
    with Path(log).open("ab") as output:
        environment = {**os.environ, **ONE_THREAD, "PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,  # the scheduler's signals reach it through us, once
        )

    def pass_on(number: int, frame: Any) -> None:  # noqa: ARG001
        process.terminate()

    # SIGINT is how submitit's local stand-in cancels, SIGTERM how Slurm does, and SIGUSR2 what both
    # send before the time is over; the run saves, and the sweep resumes it in another job.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR2):
        signal.signal(number, pass_on)
    return process.wait()


@attrs.define
class ClusterEngine:
    """Runs as jobs.

    Parameters
    ----------
    slots
        How many at once.
    executor
        A submitit executor.
    """

    slots: int
    executor: Any

    def submit(self, arguments: Sequence[str], log: Path) -> Handle:
        """Submit a job."""
        job = self.executor.submit(run_command, command(arguments), str(log.resolve()))
        return ClusterJob(job)


@attrs.frozen
class ClusterJob:
    """A run as a job."""

    job: Any

    def poll(self) -> int | None:
        """Return the exit status of the run; -9 if the job died with it."""
        if not self.job.done():
            return None
        # A job that was killed leaves no result.
        failure = self.job.exception()
        return -int(signal.SIGKILL) if failure is not None else int(self.job.result())

    def stop(self) -> None:
        """Cancel the job, which lets the run save."""
        self.job.cancel(check=False)

    kill = stop


def cluster_engine(
    kind: str, folder: Path, slots: int, parameters: Mapping[str, Any]
) -> ClusterEngine:
    """Return an engine on Slurm, or on submitit's local stand-in for it.

    Parameters
    ----------
    kind
        ``slurm`` or ``submitit-local``.
    folder
        Where submitit keeps its files; seen by the nodes.
    slots
        How many jobs at once.
    parameters
        Of submitit's ``update_parameters``, e.g. ``timeout_min``, ``slurm_partition``.

    Raises
    ------
    ConfigError
        If submitit is missing, there is no Slurm here, or a parameter is unknown to it.
    """
    try:
        submitit: Any = importlib.import_module("submitit")  # an extra, which mypy may not see
    except ImportError as error:
        raise ConfigError(f"engine {kind}: submitit is missing; {INSTALL}") from error
    cluster = "slurm" if kind == "slurm" else "local"
    defaults: dict[str, Any] = {"name": "lifelong-co", "timeout_min": 24 * 60}
    if cluster == "slurm":
        defaults["cpus_per_task"] = 1
    try:
        executor = submitit.AutoExecutor(folder=folder, cluster=cluster)
        executor.update_parameters(**{**defaults, **parameters})
    except (RuntimeError, NameError, TypeError, ValueError) as error:
        raise ConfigError(f"engine {kind}: {error}") from error
    return ClusterEngine(slots, executor)
