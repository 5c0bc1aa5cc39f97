"""What a command asks of the system: a device, cores, memory, and signals to stop."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import attrs


def choose_device(name: str) -> str:
    """Return the torch device for ``auto``, ``cpu``, ``cuda`` or ``cuda:1``.

    Raises
    ------
    ConfigError
        If this machine has no such device.
    """
    from lifelong_co.tensors.device import chosen_device

    return chosen_device(name, "--device")


def machine(device: str) -> str:
    """Return the name of the device for messages, e.g. ``CPU, 8 cores``."""
    if device.startswith("cuda"):
        import torch

        return str(torch.cuda.get_device_name(device))
    return f"CPU, {cores()} cores"


def cores() -> int:
    """Return how many cores this process may use."""
    # A container may allow fewer cores than the machine has. Not every system can say.
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def peak_memory(device: str) -> str:
    """Return the highest memory use of this process, and of its GPU if any, as text in MiB."""
    if sys.platform == "win32":  # it has no `resource`
        return "unknown"
    import resource

    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    mebibytes = highest / (2**20 if sys.platform == "darwin" else 2**10)  # in bytes or in KiB
    status = Path("/proc/self/status")
    if status.exists():  # on Linux `ru_maxrss` includes the memory of the parent process
        mebibytes = int(status.read_text().partition("VmHWM:")[2].split()[0]) / 2**10
    shown = f"{mebibytes:.0f} MiB"
    if device.startswith("cuda"):
        import torch

        shown += f", on the GPU {torch.cuda.max_memory_allocated(device) / 2**20:.0f} MiB"
    return shown


@attrs.define
class Stop:
    """Whether the user or the system has asked the run to stop."""

    signal: int = 0

    def __call__(self) -> bool:
        """Return whether to stop."""
        return self.signal != 0

    @property
    def status(self) -> int:
        """The exit status that a shell expects after this signal."""
        return 128 + self.signal


@contextmanager
def stop_on_signal() -> Iterator[Stop]:
    """Set a flag at SIGINT or SIGTERM; end the program at a SIGINT after that.

    A scheduler can send SIGTERM to a run and to the process that started it, which passes it on. So
    a second SIGTERM changes nothing.
    """
    stop = Stop()

    def ask(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if stop():
            if number == signal.SIGINT:
                raise KeyboardInterrupt
            return
        stop.signal = number
        # A signal handler writes without a buffer. A test that has begun ends first.
        # On a terminal it first erases the line in which the progress bar and `^C` stand.
        erase = b"\r\x1b[2K" if os.isatty(2) else b""
        os.write(2, erase + b"stopping after this step; a second Ctrl-C stops at once\n")

    previous = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
