"""Parsing that several subcommands share."""

import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

DEVICE = "Where to compute: auto (a GPU if there is one), cpu, cuda, cuda:1, …"
"""Help of ``--device``."""

REFERENCES = "Folder of references, as `lifelong-co reference` fills it."
"""Help of ``--references``."""


def assignments(pairs: Sequence[str], flag: str) -> dict[str, Any]:
    """Parse repeated ``NAME=VALUE`` with values as in TOML; a bare word is a string.

    Raises
    ------
    ConfigError
        If an item has no ``=`` or no name.
    """
    from lifelong_co.errors import ConfigError

    parsed = {}
    for pair in pairs:
        name, separator, text = pair.partition("=")
        if not separator or not name:
            raise ConfigError(f"{flag}: expected NAME=VALUE, got {pair!r}")
        try:
            parsed[name] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            parsed[name] = text
    return parsed


def choose_device(name: str) -> str:
    """Return the torch device for ``auto``, ``cpu``, ``cuda`` or ``cuda:1``.

    Raises
    ------
    ConfigError
        If there is no such device here.
    """
    import torch

    from lifelong_co.errors import ConfigError

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    expected = f"--device: expected auto, cpu, cuda or cuda:1, …, got {name!r}"
    if not re.fullmatch(r"cpu|cuda(:\d+)?", name):
        raise ConfigError(expected)
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"{expected}, which is not here ({reason})") from error
    return name


def machine(device: str) -> str:
    """Describe where a run takes place, for people."""
    if device.startswith("cuda"):
        import torch

        return str(torch.cuda.get_device_name(device))
    return f"CPU, {cores()} cores"


def cores() -> int:
    """Return how many cores this process may use."""
    # A container may be allowed fewer than the machine has; not every system can say.
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def fresh_folder(wanted: Path) -> Path:
    """Return the folder, or the first of ``name-2``, ``name-3``, … that is free."""
    folder, number = wanted, 1
    while folder.exists():
        number += 1
        folder = wanted.with_name(f"{wanted.name}-{number}")
    return folder
