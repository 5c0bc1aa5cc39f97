"""A lock on a folder. The system releases it when its process ends, however that happens."""

import errno
import fcntl
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from lifelong_co.errors import ConfigError

FILE = "lock"
"""The empty file of the lock. If a killed process leaves it behind, it locks nothing."""
WITHOUT_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


class LockWarning(UserWarning):
    """The file system has no locks, so a second process in the folder is not noticed."""


@contextmanager
def locked(folder: Path, refusal: str) -> Iterator[int]:
    """Lock a folder within the block and yield the file descriptor of the lock.

    The caller may remove the file of the lock at the end of the block.

    Parameters
    ----------
    folder
        Made if missing.
    refusal
        The message if another process has locked the folder.

    Raises
    ------
    ConfigError
        If another process has locked the folder, or the folder cannot be written.

    Warns
    -----
    LockWarning
        If the file system has no locks.
    """
    with _locked_file(folder, refusal) as file:
        yield file.fileno()


@contextmanager
def alone(folder: Path, refusal: str) -> Iterator[None]:
    """Lock a folder as `locked` does, and remove the file of the lock at the end of the block."""
    with locked(folder, refusal):
        try:
            yield
        finally:
            (folder / FILE).unlink(missing_ok=True)


@contextmanager
def in_turn(folder: Path) -> Iterator[None]:
    """Run the block while no other process is in such a block of the same folder.

    It leaves no file. Where the file system has no locks, nothing waits.
    """
    place = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(place, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in WITHOUT_LOCKS:
                raise
        yield
    finally:
        os.close(place)


def _locked_file(folder: Path, refusal: str) -> TextIO:
    path = folder / FILE
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file = path.open("a")
        except OSError as error:
            raise ConfigError(f"{folder}: cannot be written ({error.strerror})") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.close()
            raise ConfigError(refusal) from error
        except OSError as error:
            if error.errno not in WITHOUT_LOCKS:
                raise
            warnings.warn(
                f"{folder}: this file system has no locks ({error.strerror}); start no second"
                " process in this folder",
                LockWarning,
                stacklevel=4,
            )
            return file
        # The process before may have removed the file since it was opened here.
        if os.fstat(file.fileno()).st_nlink > 0:
            return file
        file.close()
