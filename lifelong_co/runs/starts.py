"""What a run takes over from other runs, pinned: ``starts.json`` has the hash of each checkpoint.

The other run may learn on. A run that is resumed before its first checkpoint takes over again, and
the runs of a sweep begin one after the other: they all must begin from the same parameters.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from lifelong_co.config.run_config import Config
from lifelong_co.errors import ConfigError, FileFormatError
from lifelong_co.runs.folder import RunFolder
from lifelong_co.storage.appended import checksum_file
from lifelong_co.storage.checkpoint import checkpoints
from lifelong_co.storage.files import write_whole

FILE = "starts.json"
NAMES = ("start_from", "buffer_from")
"""The settings that name another run."""


def present(config: Config) -> dict[str, str]:
    """Return the hash of the newest checkpoint of each run that is named, if there is one."""
    found: dict[str, str] = {}
    for name in NAMES:
        place = getattr(config, name)
        for path in checkpoints(RunFolder(Path(place)).checkpoints)[-1:] if place else ():
            found[name] = digest(path)
    return found


def digest(path: Path) -> str:
    """Return the stated hash of a checkpoint; empty without one."""
    try:
        return checksum_file(path).read_text(encoding="utf-8", errors="replace")[:64]
    except OSError:
        return ""


def keep(folder: Path, found: Mapping[str, str]) -> None:
    """Write down the hash of each checkpoint that was taken, unless the folder has one already."""
    known = {name: each for name, each in found.items() if each}
    if known and not (folder / FILE).exists():
        write_whole(folder / FILE, json.dumps(known, indent=1) + "\n")


def read(folder: Path) -> dict[str, str]:
    """Return the hash by the setting; empty if the run takes over nothing.

    Raises
    ------
    FileFormatError
        If the file has errors; the message names it.
    """
    file = folder / FILE
    try:
        return {str(name): str(known) for name, known in json.loads(file.read_bytes()).items()}
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError, RecursionError) as error:
        raise FileFormatError(
            f"{file}: expected an object of settings with the SHA-256 of a checkpoint ({error})"
        ) from error


def require_same(folder: Path, config: Config, found: Mapping[str, str]) -> None:
    """Raise an error if other checkpoints were taken than those that the folder knows of.

    Raises
    ------
    ConfigError
        The message names setting and run.
    FileFormatError
        As `read`.
    """
    held = read(folder)
    for name, known in found.items():
        if known and held.get(name, known) != known:
            raise ConfigError(
                f"{name}: expected the checkpoint that {getattr(config, name)} had when this run"
                " was made, got another one"
            )
