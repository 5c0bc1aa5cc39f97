"""Where the runs of a sweep are carried out: the seam, and this machine."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import attrs

# Networks this small gain nothing from a second thread, and runs side by side would fight over it.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


class Handle(Protocol):
    """A run in progress."""

    def poll(self) -> int | None:
        """Return its exit status, negative for a signal; None while it runs."""

    def stop(self) -> None:
        """Ask it to save and stop; asked again, it stops at once."""

    def kill(self) -> None:
        """End it now."""


class Engine(Protocol):
    """Carries out runs."""

    @property
    def slots(self) -> int:
        """How many runs at once."""

    def submit(self, arguments: Sequence[str], log: Path) -> Handle:
        """Start ``lifelong-co`` with arguments; what it prints is added to the log.

        There is a free slot.
        """


def command(arguments: Sequence[str]) -> list[str]:
    """Return what starts ``lifelong-co`` with arguments, in this environment."""
    return [sys.executable, "-m", "lifelong_co_cli.main", *arguments]


@attrs.define
class LocalEngine:
    """Runs as processes of this machine, each on one thread, or one to a GPU.

    Parameters
    ----------
    slots
        How many at once.
    gpus
        Names for ``CUDA_VISIBLE_DEVICES``; runs take turns on them. Empty: none is used.
    lock
        A descriptor that runs inherit; see `conduct.locked`.
    """

    slots: int
    gpus: Sequence[str] = ()
    lock: int | None = None
    _handles: list["Process"] = attrs.field(factory=list, init=False)

    def submit(self, arguments: Sequence[str], log: Path) -> Handle:
        """Start a run."""
        self._handles = [handle for handle in self._handles if handle.poll() is None]
        environment = {**os.environ, **ONE_THREAD, "PYTHONUNBUFFERED": "1"}
        gpu = ""
        if self.gpus:
            used = [handle.gpu for handle in self._handles]
            gpu = min(self.gpus, key=used.count)
            environment["CUDA_VISIBLE_DEVICES"] = gpu
        handle = Process(_start(command(arguments), log, environment, self.lock), gpu)
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
    # A terminal sends Ctrl-C to all its processes, and a run that gets a second signal, ours, stops
    # without saving. A signal held back is held back in the child, too: so it hears from us alone,
    # and still dies with our process group.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with log.open("ab") as output:
            return subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                pass_fds=() if lock is None else (lock,),
            )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def visible_gpus(count: int) -> list[str]:
    """Return how ``CUDA_VISIBLE_DEVICES`` names the GPUs that this process sees."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    named = [name.strip() for name in given.split(",") if name.strip()]
    return named[:count] if named else [str(index) for index in range(count)]
