"""The file formats of all problems, and the choice of one for a file."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import attrs

from lifelong_co import registry
from lifelong_co.errors import PluginError
from lifelong_co.instance_files.file_instance import FileInstance
from lifelong_co.instance_files.vrplib_instances import read_instance


@attrs.frozen
class Format:
    """A `protocols.FileFormat`."""

    suffixes: tuple[str, ...]
    read: Callable[..., FileInstance] = read_instance

    def __call__(
        self, path: str | os.PathLike[str], *, best_known: float | None = None
    ) -> FileInstance:
        """Read a file; see `protocols.FileFormat`."""
        return self.read(path, best_known=best_known)


def suffixes(problem: str) -> tuple[str, ...]:
    """Return the suffixes of a problem's files; empty if only ``.npz`` files are read."""
    known = registry.names("file_format")
    return registry.file_format(problem).suffixes if problem in known else ()


def has_suffix(path: str | os.PathLike[str], known: Iterable[str]) -> bool:
    """Return whether a file has one of these suffixes, in small or capital letters."""
    return Path(path).suffix.lower() in {suffix.lower() for suffix in known}


def read_file(path: str | os.PathLike[str], problem: str | None = None) -> FileInstance:
    """Read an instance in the units of its file.

    Parameters
    ----------
    path
        The file. Its suffix decides the format; a file of an unknown suffix is read as TSPLIB text.
    problem
        The problem whose format is tried first, where several formats have the suffix.

    Raises
    ------
    FileFormatError
        If the file cannot be used.
    """
    names = [name for name in registry.names("file_format") if has_suffix(path, suffixes(name))]
    if not names:
        return read_instance(path)
    chosen = registry.file_format(problem if problem in names else names[0])
    found = chosen(path)
    if not isinstance(found, FileInstance):
        raise PluginError(
            f"file_format of {os.fspath(path)}: expected a FileInstance, got {type(found).__name__}"
        )
    return found
