"""Fetching the official codebases with git: as submodules of a checkout, or as clones."""

import os
import subprocess
import tempfile
from pathlib import Path

from lifelong_co.errors import ConfigError
from lifelong_co_adapters.official.locate import VARIABLE, checkout, present, submodule
from lifelong_co_adapters.official.upstreams import pinned

# Git sets these for its hooks and aliases; with them it would use another repository.
ELSEWHERE = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}


def fetch(name: str, into: Path | None = None) -> Path:
    """Check out the pinned commit of an official codebase.

    Parameters
    ----------
    name
        One of `UPSTREAMS`.
    into
        Clone to ``into / name``. None: clone to the folder in ``LIFELONG_CO_UPSTREAM``, or, if it
        is not set, update the submodule of the checkout that contains this package.

    Returns
    -------
    The folder of the codebase.

    Raises
    ------
    ConfigError
        If no folder is known, git is missing or git fails; the message has the output of git.
    UnknownNameError
        If the name is not in `UPSTREAMS`.
    """
    pinned(name)
    if into is None and (variable := os.environ.get(VARIABLE)):
        into = Path(variable)
    if into is not None:
        return clone(name, into / name)
    root = checkout()
    if root is None or not (root / ".git").exists():
        raise ConfigError(
            f"official code of {name}: lifelong-co is not in a git checkout; "
            "expected a folder for the code with --into DIR"
        )
    folder = submodule(root, name)
    git(root, "submodule", "update", "--init", "--", folder.relative_to(root).as_posix())
    return folder


def clone(name: str, folder: Path) -> Path:
    """Clone a codebase, completely or not at all, or check out its commit in an old clone."""
    upstream = pinned(name)
    if present(folder):
        if not (folder / ".git").exists():
            raise ConfigError(f"{folder}: expected a clone of {upstream.url}, got other files")
        if commit(folder) != upstream.commit:
            git(folder, "fetch", "--quiet", upstream.url)
            git(folder, "checkout", "--quiet", "--detach", upstream.commit)
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{name}-") as beside:
            git(Path(beside), "clone", "--quiet", "--no-checkout", upstream.url, name)
            made = Path(beside) / name
            git(made, "checkout", "--quiet", "--detach", upstream.commit)
            made.rename(folder)
    except OSError as error:
        raise ConfigError(f"{folder}: {error.strerror or error}") from error
    return folder


def commit(folder: Path) -> str | None:
    """Return the full hash of the commit in a folder; None if it is not a git checkout."""
    if not (folder / ".git").exists():  # git would use a repository that contains the folder
        return None
    return git(folder, "rev-parse", "HEAD").strip()


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder and return what it printed.

    Raises
    ------
    ConfigError
        If git is missing or fails.
    """
    environment = {key: value for key, value in os.environ.items() if key not in ELSEWHERE}
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            env=environment | {"GIT_TERMINAL_PROMPT": "0"},  # no questions: users do not see them
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except FileNotFoundError as error:
        raise ConfigError(
            "git: not found; the official code is fetched with git, which must be on the PATH"
        ) from error
    if done.returncode:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        # The first error is the cause; advice and later errors follow it.
        fatal = [line for line in said if line.startswith("fatal: ")] or said[-1:]
        why = fatal[0] if fatal else f"status {done.returncode}"
        raise ConfigError(f"git {arguments[0]} failed: {why}")
    return done.stdout
