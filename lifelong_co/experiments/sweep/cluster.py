"""Runs as jobs of a cluster, with submitit (extra ``cluster``): on Slurm, or on this machine.

submitit passes a function to the job by pickle, in a folder of the sweep. Here this is
`run_command` with texts as arguments.
"""

import importlib
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.sweep.engines import (
    Handle,
    RefusedError,
    command,
    run_environment,
    without_interrupts,
)

INSTALL = "install it with: pip install 'lifelong-co[cluster]'"
TASKS = ("nodes", "tasks_per_node", "ntasks_per_node")
"""Parameters that would start a run several times."""
SAVES = 60
"""Seconds in which a preempted run saves and ends."""


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
        # A Ctrl-C must not end sbatch: it could leave a job that the sweep does not know. Not in
        # submitit's local mode, where it is the signal that cancels, and runs inherit the block.
        guard = without_interrupts if self.executor.cluster == "slurm" else nullcontext
        try:
            with guard():
                job = self.executor.submit(run_command, command(arguments), str(log.resolve()))
        except (RuntimeError, OSError) as error:  # submitit's errors are of the first kind
            raise RefusedError(f"the queue took no job: {' '.join(str(error).split())}") from error
        return ClusterJob(job, log)


@attrs.define
class ClusterJob:
    """A run as a job."""

    job: Any
    log: Path
    """Of the run. A job that dies may leave its reason in files of submitit only."""
    stopped: bool = False
    preempted: float | None = None
    """When this was seen."""
    status: int | None = None

    def poll(self) -> int | None:
        """Return the exit status of the run, or a negative one if the job died; None before."""
        if self.status is None:  # submitit waits for the result of a dead job, each time
            self.status = self._status()
        return self.status

    def _status(self) -> int | None:
        if self.stopped and not self.job.paths.stdout.exists():
            return -int(signal.SIGTERM)  # it was still in the queue
        if not self.job.done():
            if not self.job.state.startswith("PREEMPTED"):
                return None
            # submitit waits for such a job to start again, which ours do not.
            self.preempted = self.preempted or time.monotonic()
            ended = time.monotonic() - self.preempted > SAVES
            return -int(signal.SIGTERM) if ended else None
        try:
            failure = self.job.exception()
        except Exception as error:  # e.g. submitit cannot decode what the job has printed
            failure = error
        if failure is None:
            return int(self.job.result())
        with self.log.open("a", encoding="utf-8", errors="replace") as log:
            said = str(failure).rstrip("- \n")  # a line of dashes is above what the job has printed
            log.write(f"{said}\n")
        return -int(signal.SIGKILL)

    def stop(self) -> None:
        """Cancel the job; the run saves before it ends."""
        try:
            self.job.cancel(check=True)
        except (subprocess.CalledProcessError, OSError):
            return  # it may be in the queue, so that the sweep has to wait for it
        self.stopped = True

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
        If submitit is not installed, Slurm is not available, submitit refuses a parameter, or a
        job would have several nodes or tasks.
    """
    try:
        submitit: Any = importlib.import_module("submitit")  # an extra, which mypy may not see
    except ImportError as error:
        raise ConfigError(f"engine {kind}: submitit is not installed; {INSTALL}") from error
    cluster = "slurm" if kind == "slurm" else "local"
    defaults: dict[str, Any] = {"name": "lifelong-co", "timeout_min": 24 * 60}
    # -P: see `command`.
    options = {f"{cluster}_python": f"{shlex.quote(sys.executable)} -P"}
    if cluster == "slurm":
        defaults["cpus_per_task"] = 1
    try:
        executor = submitit.AutoExecutor(folder=folder, cluster=cluster, **options)
        executor.update_parameters(**{**defaults, **parameters})
    except RuntimeError as error:  # e.g. there is no Slurm
        raise ConfigError(f"engine {kind}: {error}") from error
    except (AssertionError, NameError, TypeError, ValueError) as error:
        # submitit adds lines with the types of all parameters.
        reason = (str(error) or repr(error)).splitlines()[0].rstrip(".")
        raise ConfigError(
            f"engine {kind}: {reason}; expected parameters of submitit, e.g. timeout_min, mem_gb,"
            " cpus_per_task or slurm_partition"
        ) from error
    settings = executor.parameters
    for name in TASKS:
        if settings.get(name, 1) != 1:
            raise ConfigError(f"engine {kind}: {name}: expected 1, got {settings[name]!r}")
    if cluster == "slurm":
        # A job that dies is resumed by the sweep. Started again by Slurm, it would meet that one.
        further = settings.get("additional_parameters") or {}
        settings["additional_parameters"] = {"no-requeue": True, **further}
    return ClusterEngine(slots, executor)
