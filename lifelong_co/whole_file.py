"""Files that appear whole or not at all, and never in place of one that was there."""

import os
from pathlib import Path

from lifelong_co.errors import ConfigError


def write_whole(path: str | os.PathLike[str], content: bytes, *, overwrite: bool = False) -> None:
    """Write ``content`` so that no reader ever sees a part of it.

    Parameters
    ----------
    path
        Where to; its folder must exist.
    content
        All bytes of the file.
    overwrite
        Whether a file that is already there may be replaced.

    Raises
    ------
    ConfigError
        If the file exists and ``overwrite`` is false, or the folder cannot be written to.
    """
    target = Path(path)
    # lexists: a dangling symbolic link is something that was there, too.
    if not overwrite and os.path.lexists(target):
        raise ConfigError(f"{target}: expected a new file, but it exists already; not overwritten")
    if target.is_dir():
        raise ConfigError(f"{target}: expected a file to write, got a folder")
    # In the same folder, because a rename is atomic only within one file system.
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(partial, target)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise ConfigError(f"{target}: cannot be written ({error.strerror or error})") from error
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
