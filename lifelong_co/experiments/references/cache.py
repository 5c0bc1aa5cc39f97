"""References on disk: one JSON file for each instance, written whole or not at all.

The path is ``FOLDER/<problem>/<first two digits of the key>/<key>.json``. Several programs may
write to one folder. When a program is interrupted, the references found so far are kept.
"""

import json
import sys
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.errors import ConfigError, FileFormatError
from lifelong_co.experiments.references.subject import Subject
from lifelong_co.storage.files import write_whole
from lifelong_co.storage.lock import in_turn

FOLDER = Path("references")
"""The default folder, in the working directory."""


@attrs.frozen(kw_only=True)
class Reference:
    """A solution of one instance, and how it was found."""

    name: str
    """Name of the instance, to be read by people."""
    size: int
    """Number of nodes ``n``."""
    cost: float
    """In the units of the instance, computed again from the actions."""
    actions: list[int]
    """``[T]``."""
    proven: bool
    """Whether it is proven optimal for distances rounded to 1e-6, or rounded as the file says."""
    solver: str
    version: str
    """Version of the solver's package."""
    settings: dict[str, Any]
    seconds: float
    """Time of the search."""


@attrs.frozen
class Cache:
    """The references in a folder."""

    folder: Path

    def place(self, problem: str, key: str) -> Path:
        """Return the file of an instance."""
        return self.folder / problem / key[:2] / f"{key}.json"

    def get(self, problem: str, key: str) -> Reference | None:
        """Return the reference of an instance; None if there is none yet.

        Raises
        ------
        FileFormatError
            If the file holds something else; the message names the file.
        """
        file = self.place(problem, key)
        try:
            reference = Reference(**json.loads(file.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise FileFormatError(
                f"{file}: expected a reference as JSON ({error}); delete the file to find it again"
            ) from error
        cost, actions = reference.cost, reference.actions
        if type(cost) not in (int, float) or not 0 <= cost <= sys.float_info.max:
            raise FileFormatError(f"{file}: cost: expected a number of at least 0, got {cost!r}")
        if not isinstance(actions, list) or any(type(action) is not int for action in actions):
            raise FileFormatError(
                f"{file}: actions: expected a list of whole numbers, got {actions!r:.60}"
            )
        if not isinstance(reference.proven, bool):
            raise FileFormatError(
                f"{file}: proven: expected true or false, got {reference.proven!r}"
            )
        return reference

    def put(self, subject: Subject, reference: Reference) -> Reference:
        """Store a reference unless the stored one is at least as good; return the stored one now.

        Raises
        ------
        FileFormatError
            If the stored file cannot be read.
        ConfigError
            If the file cannot be written.
        """
        file = self.place(subject.problem, subject.key)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with in_turn(file.parent):
                old = self.get(subject.problem, subject.key)
                if old is not None and not better(reference, old):
                    return old
                write_whole(file, json.dumps(attrs.asdict(reference), indent=1) + "\n")
        except OSError as error:
            raise ConfigError(f"{file}: cannot be written ({error.strerror or error})") from error
        return reference


def better(one: Reference, other: Reference) -> bool:
    """Return whether one reference is better than another of the same instance.

    If the costs are equal within a relative 1e-6, a proven reference is the better one. Otherwise
    the cost has to be lower by a relative 1e-9.
    """
    scale = max(1.0, other.cost)
    if one.proven != other.proven and abs(one.cost - other.cost) <= 1e-6 * scale:
        return one.proven
    return one.cost < other.cost - 1e-9 * scale
