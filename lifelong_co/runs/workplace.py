"""A run folder while a process works in it: locked, writable, without leftovers of killed ones."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from lifelong_co.errors import (
    ConfigError,
    FolderError,
    Interrupted,
    LifelongError,
    is_fault,
)
from lifelong_co.runs import data_files, provenance, starts
from lifelong_co.runs.data_parallel import ALONE, Ranks
from lifelong_co.runs.folder import RunFolder
from lifelong_co.storage import lock
from lifelong_co.storage.checkpoint import UNFINISHED
from lifelong_co.storage.files import temporaries

FILES = ("costs.csv", "metrics.json", "log.jsonl", "provenance.json", "report.html")
FOLDERS = ("checkpoints", "figures")
FIRST = (data_files.FILE, starts.FILE, provenance.FILE, "config.toml")
"""What a run writes before its first step."""


@contextmanager
def at_work(folder: Path, ranks: Ranks = ALONE, *, new: bool = False) -> Iterator[None]:
    """Keep other processes out of a run folder within the block.

    At the start, all that can be checked before training is checked: whether the folder can be
    written, and whether no folder lies where a file belongs or the other way round. Temporary
    files of killed processes are removed. If the block writes nothing, nothing stays. Neither does
    a new run that is refused in its first step, unless a logger has begun its files.

    Parameters
    ----------
    folder
        A run folder, or with ``new`` the path of a new one.
    ranks
        Of several processes only the first one locks the folder, but each of them must call this.
    new
        Whether the folder must be new or empty.

    Raises
    ------
    FolderError
        If ``new`` and the folder holds something.
    ConfigError
        If another process is at work in the folder, or it cannot be written, or a folder lies
        where a file belongs.
    OSError
        If the folder cannot be written or read.
    """
    with ExitStack() as held:
        refusal: Exception | None = None
        if ranks.first:
            try:
                if new:
                    RunFolder(folder).check_new()
                held.enter_context(_alone(folder, new))
            except (ConfigError, OSError) as error:
                refusal = error
        if ranks.any(refusal is not None):  # all processes end together, so that none waits
            raise refusal or ConfigError(f"{folder}: refused by the first process")
        yield


@contextmanager
def _alone(folder: Path, new: bool) -> Iterator[None]:
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    refusal = f"{folder}: another process is at work here; wait for it or stop it"
    with lock.locked(folder, refusal):
        try:
            if new:  # again, because another process may have been faster
                RunFolder(folder).check_new()
            _check(folder)
            for path in temporaries(folder):
                path.unlink()
            for path in folder.rglob(UNFINISHED):
                shutil.rmtree(path, ignore_errors=True)
            yield
        except LifelongError as error:
            refused = not isinstance(error, FolderError | Interrupted) and not is_fault(error)
            if new and refused:
                _withdraw(folder)
            raise
        finally:
            (folder / lock.FILE).unlink(missing_ok=True)
            with suppress(OSError):  # not empty: the block has written something
                for path in missing:
                    path.rmdir()


def _withdraw(folder: Path) -> None:
    """Remove a new run in which nothing was learned; if anything else is there, all of it stays."""
    names = {path.name for path in folder.iterdir()}
    if not names <= {*FIRST, "checkpoints", lock.FILE}:
        return
    with suppress(OSError):  # e.g. there is a checkpoint: then the run can be resumed
        if "checkpoints" in names:
            (folder / "checkpoints").rmdir()
        for name in FIRST:
            (folder / name).unlink(missing_ok=True)


def _check(folder: Path) -> None:
    """Raise an error for a place that cannot be written, before there is anything to write."""
    for name in FILES:
        if (folder / name).is_dir():
            raise ConfigError(f"{folder / name}: expected a file, got a folder")
    for name in FOLDERS:
        if os.path.lexists(folder / name) and not (folder / name).is_dir():
            raise ConfigError(f"{folder / name}: expected a folder, got something else")
    whole = os.R_OK | os.W_OK | os.X_OK
    needed = {folder: whole} | {folder / name: whole for name in FOLDERS}
    needed |= {folder / name: os.R_OK for name in FILES}
    for place, access in needed.items():
        if place.exists() and not os.access(place, access):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))
