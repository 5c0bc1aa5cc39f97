"""Files that a user names: whole or not at all, and never in place of one that was there."""

import os
from pathlib import Path

from lifelong_co.errors import ConfigError
from lifelong_co.files import write_whole


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
