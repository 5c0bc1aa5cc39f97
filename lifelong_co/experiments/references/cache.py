"""References on disk: one JSON file for each instance, whole or not at all.

``FOLDER/<problem>/<first two digits of the key>/<key>.json``. Several programs may write to one
folder. References that were found stay when a program is interrupted.
"""

import json
import math
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.errors import ConfigError, FileFormatError
from lifelong_co.experiments.references.subject import Subject
from lifelong_co.storage.files import write_whole

FOLDER = Path("references")
"""The default folder, in the working directory."""


@attrs.frozen(kw_only=True)
class Reference:
    """A solution of one instance, and how it was found."""

    name: str
    """Of the instance, for people."""
    size: int
    cost: float
    """In the instance's own units, recomputed from the actions."""
    actions: list[int]
    proven: bool
    """Whether it is optimal for distances rounded to a millionth, or as the file rounds them."""
    solver: str
    version: str
    settings: dict[str, Any]
    seconds: float


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
            If its file holds something else; the message names it.
        """
        file = self.place(problem, key)
        try:
            reference = Reference(**json.loads(file.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            raise FileFormatError(
                f"{file}: expected a reference as JSON ({error}); delete it, and it is found again"
            ) from error
        cost = reference.cost
        if not isinstance(cost, int | float) or not math.isfinite(cost) or cost < 0:
            raise FileFormatError(f"{file}: cost: expected a number of at least 0, got {cost!r}")
        return reference

    def put(self, subject: Subject, reference: Reference) -> Reference:
        """Store a reference unless a better one is there; return the one that is there now.

        At equal cost (to a millionth) the proven one is better.
        """
        old = self.get(subject.problem, subject.key)
        if old is not None and not better(reference, old):
            return old
        file = self.place(subject.problem, subject.key)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, json.dumps(attrs.asdict(reference), indent=1) + "\n")
        except OSError as error:
            raise ConfigError(f"{file}: cannot be written ({error.strerror or error})") from error
        return reference


def better(one: Reference, other: Reference) -> bool:
    """Return whether one reference is better than another of the same instance."""
    if abs(one.cost - other.cost) > 1e-6 * max(1.0, other.cost):
        return one.cost < other.cost
    return one.proven and not other.proven
