"""What a benchmark has found so far: kept after every instance, so that it can go on."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import cattrs

from lifelong_co.errors import ConfigError, FileFormatError
from lifelong_co.storage.files import write_whole

FILE = "results.json"


@attrs.frozen
class Result:
    """One instance solved by one solver."""

    instance: str
    size: int
    best_known: float | None
    """When it was solved; `known` tells what is known since."""
    solver: str
    """The label of the checkpoint."""
    cost: int
    """By the file's rounded distances."""
    length: float
    """By distances that are not rounded."""
    seconds: float
    """Of a batch: its time divided by its instances."""
    batch: int = 1
    """How many instances were solved together."""
    instance_key: str = ""
    """Hash of what the file holds, as references have it; empty in results of older versions."""
    weights: str = ""
    """Hash of the solver (`trained.fingerprint`); empty in results of older versions."""


@attrs.frozen
class Benchmark:
    """What a folder holds."""

    folder: Path
    settings: dict[str, Any]
    """As ``lifelong-co benchmark`` was asked: library, checkpoints, protocol."""
    results: list[Result]


def read(folder: Path) -> Benchmark:
    """Return the results in a folder with the settings they were found with.

    Raises
    ------
    FileNotFoundError
        If it has none.
    FileFormatError
        If they cannot be read.
    """
    file = folder / FILE
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        results = [cattrs.structure(row, Result) for row in stored["results"]]
        return Benchmark(folder, dict(stored["settings"]), results)
    except FileNotFoundError:
        raise
    except Exception as error:  # cattrs raises exception groups
        raise FileFormatError(f"{file}: expected the results of a benchmark ({error})") from error


def load(folder: Path, settings: dict[str, Any]) -> list[Result]:
    """Return the results in a folder; none if it has none.

    Raises
    ------
    ConfigError
        If they were found with other settings, or by a version that did not note the weights.
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
            f" {settings[name]!r}; choose another --out"
        )
    if not all(one.weights and one.instance_key for one in found.results):
        raise ConfigError(
            f"{folder / FILE}: was made by an older version, which did not note what weights and"
            " files its costs are of; choose another --out (`lifelong-co report` reads it still)"
        )
    return found.results


def save(folder: Path, settings: dict[str, Any], results: Sequence[Result]) -> None:
    """Write the results; the folder is made if need be."""
    rows = [attrs.asdict(result) for result in results]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(
            folder / FILE, json.dumps({"settings": settings, "results": rows}, indent=1) + "\n"
        )
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written ({error.strerror or error})") from error
