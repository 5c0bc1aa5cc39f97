"""Calls of `lifelong-co` in forks of this process: a call takes 0.1 to 1 s instead of 3 s.

This process has imported everything and computed nothing, so that a fork is like a new process.
"""

import contextlib
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import attrs

SECONDS = 90.0
"""The time after which a command counts as hanging."""


@attrs.frozen
class Outcome:
    """The end of a command."""

    arguments: list[str]
    status: int | None
    """The exit status, negative for a signal; None: it did not end in time."""
    out: str
    err: str
    seconds: float

    def __str__(self) -> str:
        command = " ".join(["lifelong-co", *self.arguments])
        return f"$ {command}\n{self.out[-400:]}\n{self.err[-1500:]}\nstatus {self.status}"


def exit_status(child: int) -> int | None:
    """Return the exit status of a child process, once; None while it runs."""
    pid, status = os.waitpid(child, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if pid else None


@attrs.define
class Fork:
    """A command at work in a fork, which has a process group of its own."""

    arguments: list[str]
    pid: int
    output: Path
    began: float = attrs.field(factory=time.monotonic)
    status: int | None = None

    def poll(self) -> int | None:
        """Return the exit status; None while it runs."""
        if self.status is None:
            self.status = exit_status(self.pid)
        return self.status

    def kill(self) -> None:
        """Send SIGKILL to the command and its processes."""
        if self.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)

    def sleep(self, seconds: float) -> None:
        """Wait for some seconds, or until the command has ended."""
        end = time.monotonic() + seconds
        while self.poll() is None and time.monotonic() < end:
            time.sleep(0.002)

    def wait(self) -> Outcome:
        """Wait for the end, and kill the command when the time is over."""
        self.sleep(SECONDS)
        status, took = self.poll(), time.monotonic() - self.began
        with contextlib.suppress(ProcessLookupError):  # runs that a killed sweep has left
            os.killpg(self.pid, signal.SIGKILL)
        if status is None:
            os.waitpid(self.pid, 0)
        out, err = (
            Path(f"{self.output}.{name}").read_text(errors="replace") for name in ("out", "err")
        )
        for name in ("out", "err"):
            Path(f"{self.output}.{name}").unlink()
        return Outcome(self.arguments, status, out, err, took)


def nothing() -> None:
    """Do nothing before a command."""


def start(arguments: Sequence[object], place: Path, before: Callable[[], None] = nothing) -> Fork:
    """Start ``lifelong-co`` with arguments in a folder; ``before`` is called in the fork."""
    words = [str(argument) for argument in arguments]
    output = Path(tempfile.mktemp(prefix="lifelong-co-trial-"))
    for name in ("out", "err"):
        Path(f"{output}.{name}").touch()  # the fork may be killed before it opens them
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        warnings.simplefilter("default", append=True)  # forgets what the parent has warned of
        os.chdir(place)
        redirect(output)
        leave(words, before)
    with contextlib.suppress(OSError):  # the fork did it first
        os.setpgid(pid, pid)
    return Fork(words, pid, output)


def call(arguments: Sequence[object], place: Path, before: Callable[[], None] = nothing) -> Outcome:
    """Carry out ``lifelong-co`` with arguments in a folder."""
    return start(arguments, place, before).wait()


def redirect(output: Path) -> None:
    """Send the output of this process to ``OUTPUT.out`` and ``OUTPUT.err``."""
    for number, name in ((1, "out"), (2, "err")):
        descriptor = os.open(f"{output}.{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(descriptor, number)
        os.close(descriptor)


def leave(words: list[str], before: Callable[[], None]) -> None:
    """Be the program ``lifelong-co``, and end this process as it ends."""
    from lifelong_co_cli.main import main

    status = 70
    try:
        sys.argv = ["lifelong-co", *words]
        before()
        main()
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else 0 if not leaving.code else 1
    except BaseException:
        traceback.print_exc()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(status)


def fork_runs() -> None:
    """Let the sweep of this fork start its runs as forks; for ``before``."""
    from lifelong_co.experiments.sweep import engines

    def submit(engine: object, arguments: Sequence[str], log: Path) -> "Run":  # noqa: ARG001
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            os.dup2(descriptor, 1)
            os.dup2(descriptor, 2)
            leave(list(arguments), nothing)
        return Run(pid)

    engines.LocalEngine.submit = submit  # type: ignore[method-assign]


@attrs.define
class Run:
    """A run of a sweep."""

    pid: int
    status: int | None = None

    def poll(self) -> int | None:
        """Return the exit status; None while it runs."""
        if self.status is None:
            self.status = exit_status(self.pid)
        return self.status

    def stop(self) -> None:
        """Ask it to save and stop."""
        os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """End it now."""
        os.kill(self.pid, signal.SIGKILL)
