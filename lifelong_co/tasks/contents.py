"""What the files of tasks hold: digests, which differ where the content differs, and sizes."""

import hashlib

from lifelong_co.instance_files.pool import instance_files, load_instances
from lifelong_co.protocols import Problem
from lifelong_co.tasks.task import Task


def digest(place: str, problem: Problem) -> str:
    """Return the SHA-256 over the SHA-256 digests of a file, or of the files of a folder.

    The files of a folder come in the order in which they are read. Names do not count.

    Raises
    ------
    FileFormatError, OSError
        If a file is missing, of another kind or cannot be read.
    """
    each = [hashlib.sha256(file.read_bytes()) for file in instance_files(place, problem)]
    return hashlib.sha256(b"".join(one.digest() for one in each)).hexdigest()


def largest(task: Task, problem: Problem) -> int:
    """Return the largest size of the instances that a task of files learns."""
    return max(map(problem.size, load_instances(task.files, problem, scale=task.scale)))
