"""Loading third-party code: its time is limited, and what it prints goes to stderr."""

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from types import FrameType

from lifelong_co.errors import PluginError

LOAD_SECONDS = 20.0
"""How long a plugin may take to load."""
# Code that catches everything is interrupted again and again.
AGAIN_SECONDS = 1.0


class _TooSlow(BaseException):
    """The time is over; not an `Exception`, because code often catches those."""


@contextmanager
def confined(seconds: float | None) -> Iterator[None]:
    """Run a block that loads a plugin.

    Parameters
    ----------
    seconds
        The limit of time, above 0; None: no limit. There is no limit outside of the main thread and
        on Windows either, because the limit needs a signal.

    Raises
    ------
    PluginError
        If the block takes longer. Code in C that does not return to Python is not interrupted.
    """
    possible = threading.current_thread() is threading.main_thread() and hasattr(
        signal, "setitimer"
    )
    with redirect_stdout(sys.stderr):
        if seconds is None or not possible:
            yield
            return
        try:
            with _alarm(seconds):
                yield
        except _TooSlow as error:
            raise PluginError(f"expected to load within {seconds:g} s, took longer") from error


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise `_TooSlow` in the block after some seconds; afterwards restore an earlier alarm."""

    def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        raise _TooSlow

    began = time.monotonic()
    handler = signal.signal(signal.SIGALRM, interrupt)
    left, again = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if left:
            rest = left - (time.monotonic() - began)
            signal.setitimer(signal.ITIMER_REAL, max(rest, 1e-3), again)
