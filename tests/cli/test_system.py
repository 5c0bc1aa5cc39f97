"""What a command asks of the system: signals to stop."""

import os
import signal

import pytest
from lifelong_co_cli.system import stop_on_signal


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
