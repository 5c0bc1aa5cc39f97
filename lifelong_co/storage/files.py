"""Writing files completely or not at all."""

import contextlib
import errno
import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

from lifelong_co.errors import ConfigError

TEMPORARY = re.compile(r"\..+\.[0-9a-f]+\.tmp")
"""Names of the files that `write_whole` makes first; a killed process leaves them behind."""
LONGEST = 180
"""Bytes of a name that is made of other names; a file system allows 255."""


def short_name(name: str) -> str:
    """Return a name of a file or folder; a long one is cut and ends in a part of its hash."""
    if len(name.encode()) <= LONGEST:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:6]
    return f"{name.encode()[:LONGEST].decode(errors='ignore')}-{digest}"


def write_whole(path: Path, data: bytes | str) -> None:
    r"""Write a file; even after a crash, its path holds either the old or the new content.

    Parameters
    ----------
    path
        The file; its folder must exist.
    data
        The whole content. Text is written as UTF-8 with ``\n`` line ends on every system.

    Raises
    ------
    OSError
        If the folder cannot be written. The old content of ``path`` stays, and the error has the
        name of ``path``.
    """
    content = data.encode() if isinstance(data, str) else data
    # In the same folder, because a rename is atomic only within one file system. With a random
    # name, because two processes may write the same file.
    start = os.fsencode(path.name)[:LONGEST].decode(errors="ignore")
    fresh = path.with_name(f".{start}.{secrets.token_hex(4)}.tmp")
    try:
        with fresh.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        move_whole(fresh, path)
    except OSError as error:
        # A full disk has no file name, and other errors name the temporary file.
        error.filename = str(path)
        del error.filename2
        raise
    finally:
        with contextlib.suppress(OSError):  # the name may be too long, or the disk gone
            fresh.unlink()


def temporaries(folder: Path) -> Iterator[Path]:
    """Yield what killed processes left of `write_whole` in a folder and its subfolders."""
    for path in folder.rglob(".*.tmp"):
        if TEMPORARY.fullmatch(path.name) and path.is_file():
            yield path


def move_whole(fresh: Path, path: Path) -> None:
    """Rename a finished file of the same folder to ``path`` and wait until this is on the disk."""
    os.replace(fresh, path)
    synchronize(path.parent)


def synchronize(path: Path) -> None:
    """Wait until a file's content, or a folder's list of names, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems cannot do this for folders; there the rename alone must do.
        if not (path.is_dir() and error.errno in (errno.EINVAL, errno.ENOTSUP)):
            raise
    finally:
        with contextlib.suppress(OSError):
            os.close(descriptor)


def refuse_unwritable(folder: Path) -> None:
    """Check before the work that files can be written to a folder, which may not exist yet.

    Raises
    ------
    ConfigError
        If the path, or a part of it, is a file or cannot be written.
    """
    place = folder
    while not os.path.lexists(place) and place != place.parent:
        place = place.parent
    if not place.is_dir():
        found = "got a file" if place == folder else f"but {place} is a file"
        raise ConfigError(f"{folder}: expected a folder, {found}")
    refuse_read_only(folder, place)


def refuse_unwritable_file(path: Path, *, overwrite: bool = False) -> None:
    """Check before the work that a file can be written.

    Raises
    ------
    ConfigError
        If the file exists and ``overwrite`` is false, or it cannot be written.
    """
    # lexists: a symbolic link counts as existing even if its target does not exist.
    if not overwrite and os.path.lexists(path):
        raise ConfigError(f"{path}: expected a new file, but it exists already; not overwritten")
    if path.is_dir():
        raise ConfigError(f"{path}: expected a file to write, got a folder")
    if not path.parent.is_dir():
        raise ConfigError(f"{path}: cannot be written ({path.parent} is no folder)")
    refuse_read_only(path, path.parent)


def refuse_read_only(path: Path, folder: Path) -> None:
    """Refuse to write a path if the folder that it needs cannot be written."""
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ConfigError(f"{path}: cannot be written (no permission to write to {folder})")


def write_new(
    path: str | os.PathLike[str], content: bytes | str, *, overwrite: bool = False
) -> None:
    """Write a new file.

    Parameters
    ----------
    path
        The file; its folder must exist.
    content
        The whole content; text is written as UTF-8.
    overwrite
        Whether to replace a file that already exists.

    Raises
    ------
    ConfigError
        If the file exists and ``overwrite`` is false, or it cannot be written.
    """
    target = Path(path)
    refuse_unwritable_file(target, overwrite=overwrite)
    try:
        write_whole(target, content)
    except OSError as error:
        raise ConfigError(f"{target}: cannot be written ({error.strerror or error})") from error
