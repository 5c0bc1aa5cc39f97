"""Files that are there whole or not at all."""

import contextlib
import errno
import os
import secrets
from pathlib import Path

from lifelong_co.errors import ConfigError


def write_whole(path: Path, data: bytes | str) -> None:
    r"""Write a file so that, whatever happens, its path holds the old or the new content.

    Parameters
    ----------
    path
        The file; its folder must exist.
    data
        The whole content. Text is written as UTF-8 with ``\n`` line ends on every system.

    Raises
    ------
    OSError
        If the folder cannot be written; what was at ``path`` is untouched.
    """
    content = data.encode() if isinstance(data, str) else data
    # In the same folder, as a rename is atomic only within one file system; with a name of its
    # own, as two processes may write the same file.
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with fresh.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        move_whole(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)


def move_whole(fresh: Path, path: Path) -> None:
    """Put a finished file of the same folder in the place of ``path``, durably."""
    os.replace(fresh, path)
    synchronize(path.parent)


def synchronize(path: Path) -> None:
    """Wait until a file's content, or a folder's list of names, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems cannot do this for folders; then the rename has to do.
        if not (path.is_dir() and error.errno in (errno.EINVAL, errno.ENOTSUP)):
            raise
    finally:
        with contextlib.suppress(OSError):
            os.close(descriptor)


def write_new(
    path: str | os.PathLike[str], content: bytes | str, *, overwrite: bool = False
) -> None:
    """Write a file that was not there before.

    Parameters
    ----------
    path
        Where to; its folder must exist.
    content
        The whole content; text becomes UTF-8.
    overwrite
        Whether a file that is already there may be replaced.

    Raises
    ------
    ConfigError
        If the file exists and ``overwrite`` is false, or it cannot be written.
    """
    target = Path(path)
    # lexists: a dangling symbolic link is something that was there, too.
    if not overwrite and os.path.lexists(target):
        raise ConfigError(f"{target}: expected a new file, but it exists already; not overwritten")
    if target.is_dir():
        raise ConfigError(f"{target}: expected a file to write, got a folder")
    try:
        write_whole(target, content)
    except OSError as error:
        raise ConfigError(f"{target}: cannot be written ({error.strerror or error})") from error
