"""The errors of lifelong-co: each message names the thing, what was expected and what came."""

import difflib
from collections.abc import Iterable
from pathlib import Path

NEW_FOLDER = "a new or empty folder"
RUN = "a lifelong run"
PRETRAINED = "pretrained parameters"
IMPORTED = "imported parameters"


class LifelongError(Exception):
    """Base of the errors that a user can correct.

    The command line prints the message as one line and ends with `exit_status`.
    """

    exit_status = 2
    """2: the user can correct the call or a file. 1: a run or a plugin failed while it worked."""


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
        names = list(valid)
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
    """Instances with a wrong shape, dtype or value: the message names the field."""


class ConfigError(LifelongError, ValueError):
    """A setting, task file or option that cannot be used."""


class PluginError(LifelongError):
    """A plugin that cannot be used, e.g. because another plugin owns the same name."""


class ComponentError(PluginError):
    """A component that breaks its contract while it is used; the message names the component."""

    exit_status = 1


class NotFiniteError(LifelongError, ArithmeticError):
    """A loss, gradient, parameter or cost that is NaN or infinite. Nothing of this step is saved.

    Parameters
    ----------
    folder
        The folder of the run or pretraining.
    fault
        The step, and what is not finite there.
    rates
        The settings to lower, with their values, e.g. ``learning_rate (now 0.1)``.
    """

    exit_status = 1

    def __init__(self, folder: Path, fault: str, rates: str) -> None:
        self.folder = folder
        self.fault = fault
        self.rates = rates
        super().__init__(folder, fault, rates)  # all arguments, so that it can be pickled

    def __str__(self) -> str:
        return (
            f"{self.folder}: {self.fault}, expected a finite number; nothing of this step is saved,"
            " and a resumed run stops here again; start a new run with other loss terms or a lower"
            f" {self.rates}"
        )


class InvalidRolloutError(LifelongError, ValueError):
    """A solver's solution that has no finite cost, misses nodes or takes an infeasible action."""

    exit_status = 1


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
