"""Finding the official codebases: in submodules of a checkout, or in ``LIFELONG_CO_UPSTREAM``.

An installed wheel has none of them; ``lifelong-co upstream fetch`` downloads them.
"""

import os
from pathlib import Path

from lifelong_co.errors import ConfigError
from lifelong_co_adapters.official.upstreams import pinned

VARIABLE = "LIFELONG_CO_UPSTREAM"


def checkout() -> Path | None:
    """Return the git checkout that contains this package; None for an installed package."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / ".gitmodules").is_file() else None


def place(name: str) -> Path | None:
    """Return the folder of an official codebase, whether it exists or not.

    None if ``LIFELONG_CO_UPSTREAM`` is not set and this package is not in a checkout.

    Raises
    ------
    UnknownNameError
        If the name is not in `UPSTREAMS`.
    """
    pinned(name)
    if folder := os.environ.get(VARIABLE):
        return Path(folder) / name
    root = checkout()
    return None if root is None else submodule(root, name)


def submodule(root: Path, name: str) -> Path:
    """Return the folder of an official codebase in a checkout."""
    return root / "adapters" / "upstream" / name


def present(folder: Path | None) -> bool:
    """Return whether a folder has content; git leaves a submodule empty until it is fetched."""
    return folder is not None and folder.is_dir() and any(folder.iterdir())


def upstream(name: str) -> Path:
    """Return the folder of an official codebase.

    Raises
    ------
    ConfigError
        If the folder is missing or empty; the message has the folder and the command to fetch it.
    UnknownNameError
        If the name is not in `UPSTREAMS`.
    """
    folder = place(name)
    if folder is not None and present(folder):
        return folder
    if folder is None:
        where = f"lifelong-co is not in a git checkout, and {VARIABLE} is not set"
        command = f"lifelong-co upstream fetch {name} --into DIR"
        mend = f"run `{command}` and set {VARIABLE}=DIR"
    elif os.environ.get(VARIABLE):
        where = f"expected in {folder} ({VARIABLE}), got an empty or missing folder"
        mend = f"run `lifelong-co upstream fetch {name} --into {folder.parent}`"
    else:
        where = f"expected in {folder}, got an empty or missing folder"
        mend = f"run `lifelong-co upstream fetch {name}`"
    raise ConfigError(f"official code of {name}: {where}; {mend}")
