"""Loading a plugin: limited in time, and without output on stdout."""

import contextlib
import signal
import threading
import time

import pytest

from lifelong_co.errors import PluginError
from lifelong_co.registry.confinement import confined


def test_prints_go_to_stderr(capsys):
    """Output after the block goes to stdout again."""
    with confined(None):
        print("inside")
    print("after")
    assert capsys.readouterr() == ("after\n", "inside\n")


def sleep(seconds=60.0):
    """Sleep, within a limit of 0.1 s."""
    with confined(0.1):
        time.sleep(seconds)


def test_slow_block_is_interrupted():
    """The error says how long a plugin may take."""
    began = time.monotonic()
    with pytest.raises(PluginError, match=r"expected to load within 0.1 s, took longer"):
        sleep()
    assert time.monotonic() - began < 30


def careless():
    """Catch every exception and go on, within a limit of 0.1 s."""
    with confined(0.1):
        while True:
            with contextlib.suppress(Exception):
                time.sleep(60)


def test_block_that_catches_exceptions_is_interrupted():
    """The interruption is not an `Exception`."""
    with pytest.raises(PluginError, match="took longer"):
        careless()


def test_earlier_alarm_is_restored():
    """A handler and a timer of the program survive the block."""
    rang = []
    before = signal.signal(signal.SIGALRM, lambda *_: rang.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with confined(30):
            assert not rang
        time.sleep(0.2)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert rang == [1]


def test_no_limit_outside_of_the_main_thread(capsys):
    """A signal reaches the main thread only; prints are moved all the same."""
    done = []

    def work():
        with confined(0.01):
            print("inside")
            time.sleep(0.05)
            done.append(1)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [1]
    assert capsys.readouterr() == ("", "inside\n")


@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt])
def test_other_errors_pass(error):
    """They reach the caller, and the handler of alarms is the earlier one again."""
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(error), confined(30):
        raise error
    assert signal.getsignal(signal.SIGALRM) is before
