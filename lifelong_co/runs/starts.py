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
from lifelong_co.storage.checkpoint import checkpoints, hash_path
from lifelong_co.storage.files import write_whole

FILE = "starts.json"
NAMES = ("start_from", "buffer_from")
"""The settings that name another run."""


def present(config: Config) -> dict[str, str]:
    """Return the hash of the newest checkpoint of each run that is named, if there is one."""
    found = {}
    for name in NAMES:
        place = getattr(config, name)
        for path in checkpoints(RunFolder(Path(place)).checkpoints)[-1:] if place else ():
            hashes = hash_path(path)
            if hashes.is_file():
                found[name] = hashes.read_text(encoding="utf-8", errors="replace")[:64]
    return found


def keep(folder: Path, config: Config) -> None:
    """Write down the present checkpoints, unless the run has others already."""
    if not (folder / FILE).exists() and (found := present(config)):
        write_whole(folder / FILE, json.dumps(found, indent=1) + "\n")


def read(folder: Path) -> Mapping[str, str]:
    """Return the hash by the setting; empty if the run takes over nothing.

    Raises
    ------
    FileFormatError
        If the file has errors; the message names it.
    """
    file = folder / FILE
    try:
        return {str(name): str(digest) for name, digest in json.loads(file.read_bytes()).items()}
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError) as error:
        raise FileFormatError(
            f"{file}: expected an object of settings with the SHA-256 of a checkpoint ({error})"
        ) from error


def require_same(folder: Path, config: Config) -> None:
    """Raise an error if a run that is named has another checkpoint than the folder knows of.

    Raises
    ------
    ConfigError
        The message names setting and run. A run that is gone is not checked.
    FileFormatError
        As `read`.
    """
    held = read(folder)
    for name, digest in present(config).items():
        if held.get(name, digest) != digest:
            raise ConfigError(
                f"{name}: expected the checkpoint that {getattr(config, name)} had when this run"
                " was made, got another one"
            )
