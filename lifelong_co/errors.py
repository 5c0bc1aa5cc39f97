"""Every error raised on purpose: each names the thing, what was expected and what came."""

import difflib
from collections.abc import Iterable
from pathlib import Path

NEW_FOLDER = "a new or empty folder"
RUN = "a lifelong run"
PRETRAINED = "pretrained parameters"
IMPORTED = "imported parameters"


class LifelongError(Exception):
    """Base of the errors a user can mend; the command line prints them as one line, status 2."""


class UnknownNameError(LifelongError, KeyError):
    """A name that no registry, preset or table knows.

    Parameters
    ----------
    kind
        What was asked for, e.g. ``"weighting"``.
    name
        The unknown name.
    valid
        The names that would have been accepted.
    note
        Anything else that explains the absence, e.g. a plugin that failed to load.
    """

    def __init__(self, kind: str, name: str, valid: Iterable[str], note: str = "") -> None:
        names = list(valid)
        # Case is the commonest slip ("gm"), and difflib alone would miss it.
        folded = {known.casefold(): known for known in names}
        near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
        hint = f" Did you mean {folded[near[0]]!r}?" if near else ""
        listed = ", ".join(names) if names else "none is registered"
        self.message = f"Unknown {kind} {name!r}; expected one of: {listed}.{hint}"
        if note:
            self.message += f" {note}"
        super().__init__(kind, name, names, note)  # the arguments, so that it can be pickled

    def __str__(self) -> str:
        return self.message  # KeyError would show the repr


class InvalidInstancesError(LifelongError, ValueError):
    """Problem instances that no solver may see: the message names the field."""


class ConfigError(LifelongError, ValueError):
    """A setting, task file or option that cannot be used."""


class PluginError(LifelongError):
    """Plugins that cannot live together, e.g. two owners of one name."""


class CheckpointError(LifelongError):
    """A checkpoint that is missing, truncated or altered."""


class FileFormatError(LifelongError, ValueError):
    """A TSPLIB, CVRPLIB or ``.npz`` file that cannot be used."""


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
