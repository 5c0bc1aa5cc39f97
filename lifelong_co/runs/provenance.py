"""What made a run: versions, machine and threads, in ``provenance.json`` of its folder."""

import json
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import attrs
import cattrs
import numpy as np
import torch

from lifelong_co.errors import FileFormatError
from lifelong_co.storage.files import write_whole

FILE = "provenance.json"
UNKNOWN = "unknown"
SOURCE = Path(__file__).resolve().parents[2]
"""The checkout, if the package is used from one."""
PACKAGES = ("lifelong_co", "adapters", "plugins", "cli")
"""The folders of the checkout that decide the results of a run."""


@attrs.frozen(kw_only=True)
class Maker:
    """What makes steps of a run; equal makers give equal bytes on the CPU."""

    lifelong_co: str = UNKNOWN
    """Version of the package."""
    commit: str = UNKNOWN
    """Git commit of the checkout, or of the one that pip took the package from: 40 hexadecimal
    digits. Unknown for a package installed from a folder or a file."""
    changed: bool = False
    """Whether the packages of the checkout differed from the commit."""
    torch: str = UNKNOWN
    numpy: str = UNKNOWN
    python: str = UNKNOWN
    platform: str = UNKNOWN
    """Operating system, its version and the kind of processor."""
    cpu: str = UNKNOWN
    """Name of the processor, on Linux with its family and model: one name can stand for several."""
    gpu: str = ""
    """Empty for a run on the CPU."""
    threads: int = 0
    """Threads of an operation on the CPU; 0 if unknown."""
    processes: int = 1
    """Processes that learn the run together."""
    plugins: dict[str, str] = attrs.field(factory=dict)
    """The third-party plugins that the run uses; see `plugins_used`."""

    @property
    def versions(self) -> str:
        """The version and commit of lifelong-co, and the version of torch, for people.

        A ``+`` after the commit stands for changes.
        """
        if self.lifelong_co == self.torch == UNKNOWN:
            return UNKNOWN
        commit = "" if self.commit == UNKNOWN else f" ({self.commit[:12]}{'+' * self.changed})"
        return f"lifelong-co {self.lifelong_co}{commit}, torch {self.torch}"


@attrs.frozen
class Entry:
    """What made the steps of a run from a step on, up to the next entry."""

    from_step: int
    """Steps that were finished before."""
    maker: Maker


def present(device: str, processes: int = 1, plugins: dict[str, str] | None = None) -> Maker:
    """Return what makes the steps of a run of this process on a device."""
    commit, changed = checkout(SOURCE)
    return Maker(
        lifelong_co=__version__,
        commit=installed(SOURCE) if commit == UNKNOWN else commit,
        changed=changed,
        torch=str(torch.__version__),
        numpy=np.__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        cpu=processor(),
        gpu=torch.cuda.get_device_name(device) if device.startswith("cuda") else "",
        threads=torch.get_num_threads(),
        processes=processes,
        plugins=plugins or {},
    )


def note(folder: Path, step: int, maker: Maker) -> None:
    """Write down what makes the steps of a run after ``step``, unless it is what made the last.

    Entries of later steps are removed, because the run has gone back to an earlier step. The file
    is written in any case, so that a full disk is found before the training.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    entries = [entry for entry in _known(folder) if entry.from_step < step]
    if not entries or entries[-1].maker != maker:
        entries.append(Entry(step, maker))
    rows = [{"from_step": entry.from_step, **attrs.asdict(entry.maker)} for entry in entries]
    write_whole(folder / FILE, json.dumps(rows, indent=1) + "\n")


def differences(folder: Path, maker: Maker) -> list[str]:
    """Return warnings of what differs from what made the last steps of a run that goes on.

    What the last entry does not say gives no warning.
    """
    entries = _known(folder)
    before = entries[-1].maker if entries else Maker()
    found = {
        "other rounding, so the end can have other bytes": _other_machine(before, maker),
        "another version or other code of a plugin": _other_plugins(before.plugins, maker.plugins),
    }
    return [
        f"warning: {folder} goes on with {what} ({'; '.join(each)})"
        for what, each in found.items()
        if each
    ]


def _other_machine(before: Maker, now: Maker) -> list[str]:
    return [
        f"{name}: {getattr(before, name)} before, {getattr(now, name)} now"
        for name in ("torch", "cpu", "threads")
        if getattr(before, name) not in (getattr(now, name), UNKNOWN, 0)
    ]


def _other_plugins(before: dict[str, str], now: dict[str, str]) -> list[str]:
    return [
        f"{owner}: {before.get(owner, 'none') or UNKNOWN} before,"
        f" {now.get(owner, 'none') or UNKNOWN} now"
        for owner in ({**before, **now} if before else ())
        if before.get(owner) != now.get(owner)
    ]


def read(folder: Path) -> list[Entry]:
    """Return what made a run, the first steps first; steps of unknown origin are an entry, too.

    Raises
    ------
    FileFormatError
        If the file has errors; the message names it.
    """
    entries = _known(folder)
    if not entries or entries[0].from_step > 0:  # begun by a version without this file
        return [Entry(0, Maker()), *entries]
    return entries


def _known(folder: Path) -> list[Entry]:
    file = folder / FILE
    try:
        rows: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
        # A key of a later version is left out.
        return [Entry(int(row["from_step"]), cattrs.structure(row, Maker)) for row in rows]
    except FileNotFoundError:
        return []
    except OSError:
        raise
    except Exception as error:  # cattrs raises exception groups
        raise FileFormatError(
            f"{file}: expected a list of what made the run, or no such file ({error})"
        ) from error


def checkout(source: Path) -> tuple[str, bool]:
    """Return the git commit of a checkout and whether its packages differ from it.

    The commit is unknown without git, and if the folder is not a checkout of this project.
    """
    # An installed package may lie in a checkout of another project, which does not have the file.
    said = _git(source, "rev-parse", "HEAD", "HEAD:./lifelong_co/__init__.py")
    if said is None:
        return UNKNOWN, False
    return said.split()[0], bool(_git(source, "status", "-s", "--", *PACKAGES))


def installed(source: Path) -> str:
    """Return the git commit that pip installed the packages in a folder from (PEP 610).

    It is unknown if they were not installed from a git repository (``pip install git+...``).
    """
    try:
        package = metadata.distribution("lifelong-co")
        origin = json.loads(package.read_text("direct_url.json") or "{}")
        here = Path(str(package.locate_file(PACKAGES[0]))).resolve() == source / PACKAGES[0]
        return str(origin["vcs_info"]["commit_id"]) if here else UNKNOWN
    except (metadata.PackageNotFoundError, json.JSONDecodeError, KeyError, TypeError):
        return UNKNOWN


def _git(source: Path, *arguments: str) -> str | None:
    # Inside a hook of git some variables name another repository. Without locks, reading does not
    # disturb a command of the user.
    environment = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    try:
        done = subprocess.run(
            ["git", "-C", str(source), *arguments],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


try:
    __version__ = metadata.version("lifelong-co")
except metadata.PackageNotFoundError:
    __version__ = UNKNOWN
"""The version of the installed lifelong-co."""


def processor() -> str:
    """Return the name of the processor; on Linux with the numbers that tell generations apart."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    pairs = [[part.strip() for part in line.split(":", 1)] for line in lines if ":" in line]
    said = dict(reversed(pairs))  # of several processors the first
    names = ("model name", "cpu family", "model")
    if all(name in said for name in names):
        return "{}, family {}, model {}".format(*map(said.get, names))
    return said.get("model name") or platform.processor() or UNKNOWN
