"""One sweep in a folder at a time."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lifelong_co.errors import ConfigError


@contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Hold a sweep's folder, made if missing, and yield the descriptor of the lock.

    Runs inherit it: should the sweep die alone, the folder is held until the runs that it left
    behind have ended, and no other process touches theirs meanwhile.

    Raises
    ------
    ConfigError
        If another sweep holds it, or it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / "lock").open("a")
    except OSError as error:
        raise ConfigError(f"sweep folder {folder}: cannot be written ({error.strerror})") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ConfigError(
                f"{folder}: another sweep, or a run that one left behind, is at work in this"
                " folder; wait for it or stop it"
            ) from error
        yield file.fileno()
