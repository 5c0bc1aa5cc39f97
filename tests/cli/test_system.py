"""What a command asks of the system: signals to stop, and memory."""

import os
import signal

import pytest
import torch
from lifelong_co_cli.system import peak_memory, stop_on_signal


@pytest.mark.parametrize("terminal", [True, False])
def test_first_signal_asks_to_stop_on_a_line_of_its_own(terminal, monkeypatch):
    """On a terminal the line with the progress bar and `^C` is erased first."""
    written: list[bytes] = []
    monkeypatch.setattr(os, "isatty", lambda number: terminal)  # noqa: ARG005
    monkeypatch.setattr(os, "write", lambda number, text: written.append(text))  # noqa: ARG005
    with stop_on_signal() as stop:
        signal.raise_signal(signal.SIGINT)
        assert (stop(), stop.status) == (True, 130)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    (message,) = written
    assert message.startswith(b"\r\x1b[2Kstopping" if terminal else b"stopping")
    assert message.endswith(b"\n")


def test_only_ctrl_c_stops_at_once(monkeypatch):
    """SIGTERM can come twice: from a scheduler, and from the process that started the run."""
    monkeypatch.setattr(os, "write", lambda *_: None)
    with stop_on_signal() as stop:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
        assert (stop(), stop.status) == (True, 143)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_peak_memory_is_that_of_the_device_of_the_run(monkeypatch):
    """A run on the CPU has none on a GPU, also where there is one."""
    used = {"cuda": 2**20, "cuda:1": 3 * 2**20}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda device: used[device])
    assert "GPU" not in peak_memory("cpu")
    assert peak_memory("cuda:1").endswith(", on the GPU 3 MiB")
    assert peak_memory("cuda").endswith(", on the GPU 1 MiB")
