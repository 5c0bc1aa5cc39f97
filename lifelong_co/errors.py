"""The errors of lifelong-co: each message names the thing, what was expected and what came."""

import difflib
import errno
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that break a line, change the look of a terminal, or cannot be in a path."""

NEW_FOLDER = "a new or empty folder"
RUN = "a lifelong run"
PRETRAINED = "pretrained parameters"
IMPORTED = "imported parameters"

REMEDIES = {
    errno.ENOSPC: "free space on the disk, then try again",
    errno.EDQUOT: "free space in your quota, then try again",
    errno.EACCES: "check its permissions",
    errno.EPERM: "check its permissions",
    errno.EROFS: "choose a folder that can be written",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EISDIR: "expected a file, got a folder",
    errno.ENOTDIR: "expected a folder, got a file",
    errno.ENOENT: "check its name",
    errno.EMFILE: "too many files are open; raise the limit (ulimit -n)",
}
"""What the user can do about an error of the operating system."""
FAULTS = frozenset(
    (
        *(errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG, errno.ESTALE, errno.ENOMEM),
        *(errno.EMFILE, errno.ENFILE, errno.ENODEV, errno.ENXIO, errno.EPIPE),
    )
)
"""Errors of the machine; any other error of the operating system is a mistake of the user."""
FAULT, MISTAKE, STOPS_AGAIN = 1, 2, 3
"""Exit statuses: of a fault, of a mistake of the user, and of a run that has a number that is not
finite, so a resumed run stops at the same step."""
FINAL = frozenset((MISTAKE, STOPS_AGAIN))
"""Statuses of a program that would end so again."""


class LifelongError(Exception):
    """Base of the errors that a user can correct.

    The command line prints the message as one line. It ends with status 2, or with status 1 if the
    user made no mistake (see `is_fault`).
    """


class UnknownNameError(LifelongError, KeyError):
    """A name that no registry, preset or table knows.

    Parameters
    ----------
    kind
        The kind of thing that the name should stand for, e.g. ``"weighting"``.
    name
        The unknown name.
    valid
        The known names.
    note
        More that explains why the name is unknown, e.g. a plugin that failed to load.
    """

    def __init__(self, kind: str, name: str, valid: Iterable[str], note: str = "") -> None:
        names, name = list(valid), str(name)
        # Wrong case is the most frequent mistake ("gm"), and difflib alone would miss it.
        folded = {known.casefold(): known for known in names}
        near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
        hint = f" Did you mean {folded[near[0]]!r}?" if near else ""
        listed = ", ".join(names) if names else "none is registered"
        self.message = f"Unknown {kind} {name!r}; expected one of: {listed}.{hint}"
        if note:
            self.message += f" {note}"
        super().__init__(kind, name, names, note)  # pickle calls the class with these arguments

    def __str__(self) -> str:
        return self.message  # KeyError alone would show the message in quotes


class InvalidInstancesError(LifelongError, ValueError):
    """Instances with a wrong shape, dtype or value: the message names the field.

    Parameters
    ----------
    message
        What was expected and what came.
    field
        The field of a single wrong value; empty if there is no such value.
    index
        Where the value is in the field's array, counted from 0: instance, and what follows it.
    """

    def __init__(self, message: str, field: str = "", index: tuple[int, ...] = ()) -> None:
        self.message = message
        self.field = field
        self.index = index
        super().__init__(message, field, index)  # all arguments, so that it can be pickled

    def __str__(self) -> str:
        return self.message


class ConfigError(LifelongError, ValueError):
    """A setting, task file or option that cannot be used."""


class PluginError(LifelongError):
    """A plugin that cannot be used, e.g. because another plugin owns the same name."""


class ComponentError(PluginError):
    """A component that breaks its contract while it is used; the message names the component."""


class NotFiniteError(LifelongError, ArithmeticError):
    """A loss, gradient, parameter or cost that is NaN or infinite. Nothing of this step is saved.

    Parameters
    ----------
    folder
        The folder of the run or pretraining.
    fault
        The step, and what is not finite there.
    remedy
        What the user can do.
    """

    def __init__(self, folder: Path, fault: str, remedy: str) -> None:
        self.folder = folder
        self.fault = fault
        self.remedy = remedy
        super().__init__(folder, fault, remedy)  # all arguments, so that it can be pickled

    def __str__(self) -> str:
        return (
            f"{self.folder}: {self.fault}, expected a finite number; nothing of this step is saved,"
            f" and a resumed run stops here again; {self.remedy}"
        )


class InvalidRolloutError(LifelongError, ValueError):
    """A solver's solution that has no finite cost, misses nodes or takes an infeasible action."""


class CheckpointError(LifelongError):
    """A checkpoint that is missing, truncated or altered."""


class FileFormatError(LifelongError, ValueError):
    """A file that cannot be used: of instances, of a run, or of references."""


class FolderError(ConfigError):
    """A folder that holds something else than what is needed.

    Parameters
    ----------
    folder
        The folder.
    expected
        What should be there, e.g. `NEW_FOLDER`.
    found
        What is there, e.g. `RUN`; the command line adds which command uses it.
    """

    def __init__(self, folder: Path, expected: str, found: str) -> None:
        self.folder = folder
        self.expected = expected
        self.found = found
        super().__init__(folder, expected, found)  # all arguments, so that it can be pickled

    def __str__(self) -> str:
        return f"{self.folder}: expected {self.expected}, got {self.found}"


class Interrupted(LifelongError):  # noqa: N818 - the run was asked to stop
    """A run or pretraining was asked to stop. All it had done is saved in its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        super().__init__(folder)

    def __str__(self) -> str:
        return f"stopped; resume it from the folder {self.folder}"


def explained(error: OSError) -> str:
    """Return one line for an error of the operating system: the file, the reason, the remedy."""
    reason = error.strerror or str(error) or type(error).__name__
    remedy = f"; {REMEDIES[error.errno]}" if error.errno in REMEDIES else ""
    # Only writing to an open file gives no name, and `storage.files` adds the names of ours. An
    # error without a number is no error of the system: a plugin raised it.
    if error.filename is not None:
        name = os.fsdecode(error.filename)
    else:
        name = "standard output" if error.errno else type(error).__name__
    return f"{name}: {reason}{remedy}"


def is_fault(error: BaseException) -> bool:
    """Return whether an error is no mistake of the user.

    Such an error comes from the machine, for example a full disk, from a plugin, or from a run that
    has failed while it worked.
    """
    if isinstance(error, ComponentError | NotFiniteError | InvalidRolloutError):
        return True
    cause: BaseException | None = error
    while cause is not None:
        number = cause.errno if isinstance(cause, OSError) else None
        # safetensors has no error number except in its message.
        found = re.search(r"\(os error (\d+)\)", str(cause)) if number is None else None
        if (int(found[1]) if found else number) in FAULTS:
            return True
        cause = cause.__cause__
    return False


def exit_status(error: BaseException) -> int:
    """Return the exit status of a program that ends with an error."""
    if isinstance(error, NotFiniteError):
        return STOPS_AGAIN
    return FAULT if is_fault(error) else MISTAKE


@contextmanager
def naming(file: Path, beside: str = "") -> Iterator[None]:
    """Add the name of a file to the errors of the block that name no file of its folder.

    ``beside`` is another place where the cause can be.
    """
    try:
        yield
    except LifelongError as error:
        if not str(error).startswith((f"{file.parent}:", f"{file.parent}{os.sep}")):
            error.add_note(f"in {file} or {beside}" if beside else f"in {file}")
        raise
