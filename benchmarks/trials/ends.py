"""The four ends that a trial may have, and the checks that several kinds of trials share."""

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any

from forks import Outcome

from lifelong_co.storage.checkpoint import UNFINISHED
from lifelong_co.storage.files import TEMPORARY

WARNING = "lifelong-co: warning: "


class End(StrEnum):
    """How a trial may end; everything else raises `Failed`."""

    RIGHT = "right result"
    REFUSED = "refused by name"
    WARNED = "older checkpoint or repair, with a warning"
    HARMLESS = "damage that cannot matter"


class Failed(Exception):  # noqa: N818 - the word for such an end
    """A trial that has none of the four ends; the message says what happened."""


def require(condition: object, message: str) -> None:
    """Raise `Failed` unless the condition holds."""
    if not condition:
        raise Failed(message)


def tree(folder: Path) -> dict[str, bytes | None]:
    """Return the bytes of every file under a folder, and None for every folder.

    A lock and what killed processes left of writing do not count.
    """
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if path.name != "lock"
        and UNFINISHED not in path.parts
        and not TEMPORARY.fullmatch(path.name)
    }


def changed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return the paths that differ between two trees."""
    return sorted(
        name
        for name in before.keys() | after.keys()
        if (name in before, before.get(name)) != (name in after, after.get(name))
    )


def warned(outcome: Outcome) -> bool:
    """Return whether the command printed a warning."""
    return any(line.startswith(WARNING) for line in outcome.err.splitlines())


def finished(outcome: Outcome) -> bool:
    """Return whether a command ended well; a traceback or an end by time is a failure."""
    require(outcome.status is not None, f"did not end in time\n{outcome}")
    require("Traceback" not in outcome.out + outcome.err, f"a traceback\n{outcome}")
    return outcome.status == 0


def refused(outcome: Outcome, names: Iterable[object] = ()) -> End:
    """Check that a command was refused in one line that has one of the names, if there are any."""
    finished(outcome)
    require(outcome.status in (1, 2, 3), f"a status of none of 1, 2 and 3\n{outcome}")
    lines = [line for line in outcome.err.splitlines() if not line.startswith(WARNING)]
    if outcome.arguments[:1] == ["report"]:  # it says on stderr which part it makes
        lines = [line for line in lines if line.startswith("lifelong-co: ")]
    require(len(lines) == 1, f"expected one line of error, got {len(lines)}\n{outcome}")
    require(lines[0].startswith("lifelong-co: "), f"a line of another program\n{outcome}")
    expected = [str(name) for name in names]
    named = not expected or any(name in lines[0] for name in expected)
    require(named, f"expected one of {expected} in the line\n{outcome}")
    return End.REFUSED
