"""Stopping cleanly: the first Ctrl-C or SIGTERM asks, the second insists."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import attrs


@attrs.define
class Stop:
    """Whether the user or the system has asked the run to stop."""

    signal: int = 0

    def __call__(self) -> bool:
        """Return whether to stop."""
        return self.signal != 0

    @property
    def status(self) -> int:
        """The exit status that shells expect of a process stopped so."""
        return 128 + self.signal


@contextmanager
def stop_on_signal() -> Iterator[Stop]:
    """Within the block SIGINT and SIGTERM set the flag; a second one ends the program at once."""
    stop = Stop()

    def ask(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if stop():
            raise KeyboardInterrupt
        stop.signal = number
        # A test in progress ends first; on stderr, unbuffered: this is a signal handler.
        os.write(2, b"stopping after this step; once more stops at once\n")

    previous = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
