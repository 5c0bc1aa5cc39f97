"""Disks that are full or read-only while `run`, `sweep`, `pretrain` and `report` write."""

import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from ends import End, Failed, finished, refused, require, tree
from forks import Outcome, call, fork_runs
from kills import STARTS, Healthy, again
from kills import prepare as prepare_healthy
from tiny import same

ROOM = {"run": 600, "pretrain": 160, "sweep": 1200, "report": 700}
"""KiB that a command writes, at most."""
READERS = (
    ("compare", "disk/finished"),
    ("evaluate", "disk/finished", "--device=cpu"),
    ("run", "--resume", "disk/finished"),
    ("report", "disk/finished", "--out=disk/page"),
)


def prepare(place: Path) -> Healthy:
    """Make the place for the disk."""
    healthy = prepare_healthy(place)
    (place / "disk").mkdir()
    return healthy


def trial(healthy: Healthy, draw: random.Random, number: int) -> tuple[End, str]:
    """Carry out a command on a small disk, then again with space; or on a read-only disk."""
    if number % 4 == 3:
        return read_only(healthy, draw)
    command = draw.choice(tuple(STARTS))
    room = draw.randint(8, ROOM[command])
    expected = healthy.results(command)
    limit = number % 4 == 2
    kind = "files" if limit else "disk"
    what = f"{command} with a {kind} of {room} KiB"
    with disk(healthy.place) as (folder, resize):
        target = folder / f"killed-{command}"
        if not limit:
            resize(room)
        # A limit on files also holds on machines without the right to mount a disk.
        first = call(
            [*STARTS[command], f"--out={target}"],
            healthy.place,
            (lambda: smaller_files(room)) if limit or not folder.is_mount() else fork_runs,
        )
        end = End.RIGHT if finished(first) else refused_run(command, first, target)
        resize(20_000)
        outcome = call(continued(command, target), healthy.place, fork_runs)
        require(finished(outcome), f"{what}: not continued with space\n{first}\n{outcome}")
        if same(command, target) != expected:
            raise Failed(f"{what}: other bytes after it was continued\n{first}\n{outcome}")
    return end, what


def refused_run(command: str, outcome: Outcome, target: Path) -> End:
    """Check a refusal; a sweep says which runs failed, one a line."""
    if command == "sweep" and (target / "runs").is_dir() and outcome.status == 1:
        return (
            End.REFUSED if str(target) in outcome.out + outcome.err else refused(outcome, [target])
        )
    return refused(outcome, [target])


def continued(command: str, target: Path) -> list[str]:
    """Return the command that continues on the disk."""
    words = again(command, target)
    return [
        word.replace(target.name, str(target)) if target.name in word else word for word in words
    ]


def read_only(healthy: Healthy, draw: random.Random) -> tuple[End, str]:
    """Carry out a command on a disk that cannot be written; nothing may change."""
    command = draw.choice(tuple(STARTS))
    writer = [*STARTS[command], f"--out=disk/{draw.choice(('new', 'a/b'))}"]
    words = draw.choice((writer, *map(list, READERS)))
    if command == "report":
        healthy.finished()
    with disk(healthy.place) as (folder, resize):
        shutil.copytree(healthy.finished(), folder / "finished")
        before = tree(folder)
        resize(0)
        outcome = call(words, healthy.place, fork_runs)
        require(tree(folder) == before, f"changed a read-only disk\n{outcome}")
        end = End.RIGHT if finished(outcome) else refused(outcome, ["disk/"])
    return end, f"read-only: {' '.join(words[:2])} {words[-1]}"


def smaller_files(kibibytes: int) -> None:
    """Limit the size of each file; a larger one fails as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (kibibytes * 128, kibibytes * 128))
    fork_runs()


@contextlib.contextmanager
def disk(place: Path) -> Iterator[tuple[Path, "Resize"]]:
    """Mount a disk in memory if that is allowed; else use a folder."""
    folder = place / "disk"
    mounted = mount("-t", "tmpfs", "-o", "size=20m", "tmpfs", str(folder))
    try:
        yield folder, Resize(folder, mounted)
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)
        else:
            folder.chmod(0o755)
            shutil.rmtree(folder)
            folder.mkdir()


class Resize:
    """Changes the size of the disk; 0 KiB means read-only."""

    def __init__(self, folder: Path, mounted: bool) -> None:
        self.folder = folder
        self.mounted = mounted

    def __call__(self, kibibytes: int) -> None:
        """Set the size of the whole disk."""
        if self.mounted:
            mode = f"size={kibibytes}k,rw" if kibibytes else "ro"
            mount("-o", f"remount,{mode}", str(self.folder))
        elif os.getuid() != 0:  # root writes everywhere
            self.folder.chmod(0o755 if kibibytes else 0o555)


def mount(*options: str) -> bool:
    """Call ``mount``; return whether it is allowed."""
    if shutil.which("mount") is None:
        return False
    return subprocess.run(["mount", *options], capture_output=True, check=False).returncode == 0
