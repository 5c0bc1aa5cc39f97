"""The lock on a folder: one process at a time, and none that has ended."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
from contextlib import nullcontext, suppress
from pathlib import Path
from unittest.mock import Mock

import pytest

from lifelong_co.errors import ConfigError
from lifelong_co.storage import lock

HOLD = """
import sys
from pathlib import Path
from lifelong_co.storage.lock import locked
with locked(Path(sys.argv[1]), "taken"):
    print("held", flush=True)
    input()
"""


def test_processes_take_turns(tmp_path: Path) -> None:
    """A second block of the same folder begins after the first one; nothing stays behind."""
    order: list[str] = []

    def second() -> None:
        with lock.in_turn(tmp_path):
            order.append("second")

    with lock.in_turn(tmp_path):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.2)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
    assert list(tmp_path.iterdir()) == []


def test_lock_of_a_block_that_ends_leaves_no_file(tmp_path: Path) -> None:
    """Also if an error ends it; a second process in the block is refused."""
    with suppress(KeyError), lock.alone(tmp_path, "taken"):
        with pytest.raises(ConfigError, match=r"^taken$"), lock.alone(tmp_path, "taken"):
            pass
        assert (tmp_path / lock.FILE).exists()
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_turns_need_no_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system may have none; any other error is raised."""
    for code, expected in (
        (errno.ENOLCK, nullcontext()),
        (errno.EIO, pytest.raises(OSError, match="no")),
    ):
        monkeypatch.setattr(fcntl, "flock", Mock(side_effect=OSError(code, "no")))
        with expected, lock.in_turn(tmp_path):
            pass


def test_other_process_is_refused_until_the_first_is_killed(tmp_path: Path) -> None:
    """SIGKILL releases the lock, and the file that stays locks nothing."""
    folder = tmp_path / "new"
    command = [sys.executable, "-c", HOLD, str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(ConfigError, match=r"^taken$"), lock.locked(folder, "taken"):
            raise AssertionError
        holder.send_signal(signal.SIGKILL)
    assert (folder / lock.FILE).exists()
    with lock.locked(folder, "taken") as descriptor:
        os.fstat(descriptor)


def test_file_removed_by_the_process_before_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock on a file without a name would keep nobody out."""
    real = fcntl.flock
    removed: list[int] = []

    def late(file: int, operation: int) -> None:
        if not removed:
            removed.append(operation)
            (tmp_path / lock.FILE).unlink()
        real(file, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with lock.locked(tmp_path, "taken") as descriptor:
        assert os.fstat(descriptor).st_ino == (tmp_path / lock.FILE).stat().st_ino


def test_file_system_without_locks_is_only_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs on such file systems worked before there was a lock."""

    def refuse(file: int, operation: int) -> None:  # noqa: ARG001
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.warns(lock.LockWarning, match="has no locks"), lock.locked(tmp_path, "taken"):
        pass


def test_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """Here its parent is a file."""
    (tmp_path / "file").touch()
    with (
        pytest.raises(ConfigError, match=r"file/new: cannot be written \(Not a directory\)"),
        lock.locked(tmp_path / "file" / "new", "taken"),
    ):
        raise AssertionError
