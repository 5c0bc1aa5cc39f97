"""Finds the official codebases: in a checkout's submodules or where an environment variable says.

An installed wheel has none; ``lifelong-co upstream fetch`` brings them.
"""

import os
from pathlib import Path

from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co_adapters.official.upstreams import UPSTREAMS

VARIABLE = "LIFELONG_CO_UPSTREAM"


def checkout() -> Path | None:
    """Return the git checkout that this package lies in, None where it is installed."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / ".gitmodules").is_file() else None


def place(name: str) -> Path | None:
    """Return where an official codebase belongs, whether or not it is there.

    None: nowhere, as this is no checkout and ``LIFELONG_CO_UPSTREAM`` is not set.

    Raises
    ------
    UnknownNameError
        If it is none of the four.
    """
    if name not in UPSTREAMS:
        raise UnknownNameError("official codebase", name, UPSTREAMS)
    if folder := os.environ.get(VARIABLE):
        return Path(folder) / name
    root = checkout()
    return None if root is None else root / "adapters" / "upstream" / name


def present(folder: Path | None) -> bool:
    """Tell whether a folder has anything in it; git leaves a submodule's empty until fetched."""
    return folder is not None and folder.is_dir() and any(folder.iterdir())


def upstream(name: str) -> Path:
    """Return the folder of an official codebase.

    Raises
    ------
    ConfigError
        If it is not there; the message says where it was looked for and what brings it.
    UnknownNameError
        If it is none of the four.
    """
    folder = place(name)
    if folder is not None and present(folder):
        return folder
    if folder is None:
        where = f"this is no git checkout of lifelong-co, and {VARIABLE} is not set"
        command = f"lifelong-co upstream fetch {name} --into DIR"
        mend = f"run `{command}` and set {VARIABLE}=DIR"
    elif os.environ.get(VARIABLE):
        where = f"expected in {folder} ({VARIABLE}), nothing there"
        mend = f"run `lifelong-co upstream fetch {name} --into {folder.parent}`"
    else:
        where = f"expected in {folder}, nothing there"
        mend = f"run `lifelong-co upstream fetch {name}`"
    raise ConfigError(f"official code of {name}: {where}; {mend}")
