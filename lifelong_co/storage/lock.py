"""A lock on a folder. The system releases it when its process ends, however that happens."""

import errno
import fcntl
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lifelong_co.errors import ConfigError

FILE = "lock"
"""The empty file of the lock. It stays in the folder, and without a process it locks nothing."""
WITHOUT_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


class LockWarning(UserWarning):
    """The file system has no locks, so a second process in the folder is not noticed."""


@contextmanager
def locked(folder: Path, refusal: str) -> Iterator[int]:
    """Lock a folder within the block and yield the file descriptor of the lock.

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
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / FILE).open("a")
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written ({error.strerror})") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ConfigError(refusal) from error
        except OSError as error:
            if error.errno not in WITHOUT_LOCKS:
                raise
            warnings.warn(
                f"{folder}: this file system has no locks ({error.strerror}); start no second"
                " process in this folder",
                LockWarning,
                stacklevel=3,
            )
        yield file.fileno()
