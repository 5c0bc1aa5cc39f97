"""Engines start the runs of a sweep: their protocol, and the engine of this machine."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import attrs

from lifelong_co.errors import LifelongError

# Small networks are not faster with a second thread, and parallel runs would compete for it.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


class Handle(Protocol):
    """A run that has been started."""

    def poll(self) -> int | None:
        """Return its exit status, negative for a signal; None while it runs."""

    def stop(self) -> None:
        """Ask it to save and stop; a second call changes nothing."""

    def kill(self) -> None:
        """End it now."""


class Engine(Protocol):
    """Starts runs."""

    @property
    def slots(self) -> int:
        """Highest number of runs at once."""

    def submit(self, arguments: Sequence[str], log: Path) -> Handle:
        """Start ``lifelong-co`` with arguments and append its output to the log.

        The caller makes sure that a slot is free.

        Raises
        ------
        RefusedError
            If the queue of a scheduler takes no further job.
        """


class RefusedError(LifelongError):
    """A scheduler took no job; the message has its reason."""


def command(arguments: Sequence[str]) -> list[str]:
    """Return the command that starts ``lifelong-co`` with arguments, in this environment."""
    # -P: a file of the working directory named like a module must not be imported in its place.
    return [sys.executable, "-P", "-m", "lifelong_co_cli.main", *arguments]


def run_environment() -> dict[str, str]:
    """Return the environment of a run: one thread, and output without delay."""
    return {**os.environ, **ONE_THREAD, "PYTHONUNBUFFERED": "1"}


@attrs.define
class LocalEngine:
    """Starts runs as processes of this machine, each with one thread.

    Parameters
    ----------
    slots
        Highest number of runs at once.
    gpus
        Names for ``CUDA_VISIBLE_DEVICES``; a run gets the GPU with the fewest runs. Empty: no GPU.
    lock
        A file descriptor that runs inherit; see `conduct.locked`.
    """

    slots: int
    gpus: Sequence[str] = ()
    lock: int | None = None
    _handles: list["Process"] = attrs.field(factory=list, init=False)

    def submit(self, arguments: Sequence[str], log: Path) -> Handle:
        """Start a run."""
        self._handles = [handle for handle in self._handles if handle.poll() is None]
        own = run_environment()
        gpu = ""
        if self.gpus:
            used = [handle.gpu for handle in self._handles]
            gpu = min(self.gpus, key=used.count)
            own["CUDA_VISIBLE_DEVICES"] = gpu
        handle = Process(_start(command(arguments), log, own, self.lock), gpu)
        self._handles.append(handle)
        return handle


@attrs.frozen
class Process:
    """A run as a process of this machine."""

    process: "subprocess.Popen[bytes]"
    gpu: str = ""

    def poll(self) -> int | None:
        """Return its exit status; None while it runs."""
        return self.process.poll()

    def stop(self) -> None:
        """Ask it to save and stop."""
        self.process.terminate()

    def kill(self) -> None:
        """End it now."""
        self.process.kill()


def _start(
    arguments: list[str], log: Path, environment: Mapping[str, str], lock: int | None
) -> "subprocess.Popen[bytes]":
    with without_interrupts(), log.open("ab") as output:
        return subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            pass_fds=() if lock is None else (lock,),
        )


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Block SIGINT, also in the processes that are started meanwhile.

    A terminal sends each Ctrl-C to all its processes, and a run that gets two stops without saving.
    A child inherits the block, and gets only the signal of the process that started it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def visible_gpus(count: int) -> list[str]:
    """Return the names of this process's first ``count`` GPUs for ``CUDA_VISIBLE_DEVICES``."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    named = [name.strip() for name in given.split(",") if name.strip()]
    return named[:count] if named else [str(index) for index in range(count)]
