"""Runs as jobs of a cluster, with submitit (extra ``cluster``): on Slurm, or on this machine.

submitit passes a function to the job by pickle, in a folder of the sweep. Here this is
`run_command` with texts as arguments.
"""

import importlib
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.sweep.engines import Handle, command, run_environment

INSTALL = "install it with: pip install 'lifelong-co[cluster]'"


def run_command(arguments: Sequence[str], log: str) -> int:
    """Run a command inside a job and return its exit status; signals to stop are passed on."""
    process: subprocess.Popen[bytes] | None = None
    early = False  # whether a signal came before there was a process

    def pass_on(number: int, frame: Any) -> None:  # noqa: ARG001
        nonlocal early
        if process is None:
            early = True
        else:
            process.terminate()

    # submitit's local mode cancels with SIGINT and Slurm with SIGTERM. Both send SIGUSR2 before the
    # time is over: then the run saves, and the sweep resumes it in another job.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR2):
        signal.signal(number, pass_on)
    with Path(log).open("ab") as output:
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=run_environment(),
            start_new_session=True,  # so it gets the scheduler's signals only from this process
        )
    if early:
        process.terminate()
    return process.wait()


@attrs.define
class ClusterEngine:
    """Starts runs as jobs.

    Parameters
    ----------
    slots
        Highest number of jobs at once.
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
        """Return the exit status of the run, or -9 if the job died; None while it runs."""
        if not self.job.done():
            return None
        # A job that was killed has no result.
        failure = self.job.exception()
        return -int(signal.SIGKILL) if failure is not None else int(self.job.result())

    def stop(self) -> None:
        """Cancel the job; the run saves before it ends."""
        self.job.cancel(check=False)

    kill = stop


def cluster_engine(
    kind: str, folder: Path, slots: int, parameters: Mapping[str, Any]
) -> ClusterEngine:
    """Return an engine on Slurm, or on submitit's local mode.

    Parameters
    ----------
    kind
        ``slurm`` or ``submitit-local``.
    folder
        The folder of submitit's files; all nodes must have access to it.
    slots
        Highest number of jobs at once.
    parameters
        Arguments of submitit's ``update_parameters``, e.g. ``timeout_min``, ``slurm_partition``.

    Raises
    ------
    ConfigError
        If submitit is not installed, Slurm is not available, or submitit refuses a parameter.
    """
    try:
        submitit: Any = importlib.import_module("submitit")  # an extra, which mypy may not see
    except ImportError as error:
        raise ConfigError(f"engine {kind}: submitit is not installed; {INSTALL}") from error
    cluster = "slurm" if kind == "slurm" else "local"
    defaults: dict[str, Any] = {"name": "lifelong-co", "timeout_min": 24 * 60}
    if cluster == "slurm":
        defaults["cpus_per_task"] = 1
    try:
        executor = submitit.AutoExecutor(folder=folder, cluster=cluster)
        executor.update_parameters(**{**defaults, **parameters})
    except RuntimeError as error:  # e.g. there is no Slurm
        raise ConfigError(f"engine {kind}: {error}") from error
    except (NameError, TypeError, ValueError) as error:
        # submitit adds lines with the types of all parameters.
        reason = str(error).splitlines()[0].rstrip(".")
        raise ConfigError(
            f"engine {kind}: {reason}; expected parameters of submitit, e.g. timeout_min, mem_gb,"
            " cpus_per_task or slurm_partition"
        ) from error
    return ClusterEngine(slots, executor)
