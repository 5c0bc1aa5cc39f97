"""Every error raised on purpose: each names the thing, what was expected and what came."""

import difflib
from collections.abc import Iterable


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
