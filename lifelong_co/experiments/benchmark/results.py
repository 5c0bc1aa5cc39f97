"""The results of a benchmark; they are stored after every batch, so that it can be continued."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import cattrs

from lifelong_co.errors import ConfigError, FileFormatError
from lifelong_co.storage.files import write_whole

FILE = "results.json"
NUMBERS = ("best_known", "cost", "length", "seconds", "nearest_neighbor")
"""The fields of a result that are finite numbers of at least 0, or None."""


@attrs.frozen
class Result:
    """One instance solved by one solver."""

    instance: str
    size: int
    best_known: float | None
    """The best known cost when the instance was solved; `known` updates it."""
    solver: str
    """The label of the checkpoint."""
    cost: float
    """In the distances of the file; an integer if these are rounded."""
    length: float
    """In distances that are not rounded."""
    seconds: float
    """Time of the batch divided by its number of instances."""
    batch: int = 1
    """Number of instances that were solved together."""
    instance_key: str = ""
    """Hash of the instance (`subject.of_file`); empty in results of older versions."""
    weights: str = ""
    """Hash of the solver (`trained_solver.fingerprint`); empty in results of older versions."""
    nearest_neighbor: float | None = None
    """The least cost of the nearest-neighbor rule; None in results of older versions."""


@attrs.frozen
class Benchmark:
    """The settings and results in a folder."""

    folder: Path
    settings: dict[str, Any]
    """The settings of ``lifelong-co benchmark``: library, checkpoints, protocol."""
    results: list[Result]
    """Of the files of the latest call."""
    others: list[Result] = attrs.field(factory=list)
    """Of files of earlier calls, kept because a later call may have them again."""


def read(folder: Path) -> Benchmark:
    """Return the results in a folder with their settings.

    Raises
    ------
    FileNotFoundError
        If the folder has no results.
    FileFormatError
        If the results cannot be read.
    """
    file = folder / FILE
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        results = [cattrs.structure(row, Result) for row in stored["results"]]
        for name in NUMBERS:
            values = [getattr(one, name) for one in results]
            if not all(value is None or 0 <= value < math.inf for value in values):
                raise ValueError(f"{name}: expected numbers of at least 0")
        names = stored.get("files")  # None: an older version
        shown = [one for one in results if names is None or one.instance in names]
        others = [] if names is None else [one for one in results if one.instance not in names]
        return Benchmark(folder, dict(stored["settings"]), shown, others)
    except FileNotFoundError:
        raise
    except Exception as error:  # cattrs raises exception groups
        raise FileFormatError(f"{file}: expected the results of a benchmark ({error})") from error


def load(folder: Path, settings: dict[str, Any]) -> list[Result]:
    """Return all results in a folder; an empty list if it has none.

    Raises
    ------
    ConfigError
        If they have other settings, or come from a version that did not store the weights' hash.
    FileFormatError
        If they cannot be read.
    """
    try:
        found = read(folder)
    except FileNotFoundError:
        return []
    different = [name for name in settings if found.settings.get(name) != settings[name]]
    if different:
        name = different[0]
        raise ConfigError(
            f"{folder / FILE}: was made with {name}={found.settings.get(name)!r}, not"
            f" {settings[name]!r}; choose another folder"
        )
    results = [*found.results, *found.others]
    if not all(one.weights and one.instance_key for one in results):
        raise ConfigError(
            f"{folder / FILE}: was made by an older version, which did not store the hashes of"
            " weights and files; choose another folder (`lifelong-co report` still reads it)"
        )
    return results


def save(
    folder: Path, settings: dict[str, Any], results: Sequence[Result], files: Sequence[str]
) -> None:
    """Write the results; create the folder if it is missing.

    ``files`` are the names of the instances of this call; the results of others are only kept.
    """
    rows = [attrs.asdict(result) for result in results]
    stored = {"settings": settings, "files": list(files), "results": rows}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / FILE, json.dumps(stored, indent=1) + "\n")
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written ({error.strerror or error})") from error
