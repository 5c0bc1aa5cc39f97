"""What the files of tasks hold: digests, which differ where the content differs."""

import hashlib
from collections.abc import Iterable

from lifelong_co.instance_files.pool import instance_files
from lifelong_co.protocols import Problem
from lifelong_co.tasks.task import Task


def digests(tasks: Iterable[Task], problem: Problem) -> dict[str, dict[str, str]]:
    """Return the SHA-256 of ``files`` and ``test_files`` by task, for tasks that have them.

    That of a folder is over its files in the order in which they are read. Names do not count.

    Raises
    ------
    FileFormatError, OSError
        If a file is missing, of another kind or cannot be read.
    """
    found: dict[str, dict[str, str]] = {}
    for task in tasks:
        for field in ("files", "test_files"):
            if place := getattr(task, field):
                found.setdefault(task.label, {})[field] = digest(place, problem)
    return found


def digest(place: str, problem: Problem) -> str:
    """Return the SHA-256 of a file, or over the files of a folder."""
    each = [hashlib.sha256(file.read_bytes()) for file in instance_files(place, problem)]
    return hashlib.sha256(b"".join(one.digest() for one in each)).hexdigest()
