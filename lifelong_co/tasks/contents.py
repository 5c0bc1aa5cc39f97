"""What the files of tasks hold: digests, which differ where the content differs."""

import hashlib

from lifelong_co.instance_files.pool import instance_files
from lifelong_co.protocols import Problem


def digest(place: str, problem: Problem) -> str:
    """Return the SHA-256 of a file, or over the files of a folder.

    The files of a folder come in the order in which they are read. Names do not count.

    Raises
    ------
    FileFormatError, OSError
        If a file is missing, of another kind or cannot be read.
    """
    each = [hashlib.sha256(file.read_bytes()) for file in instance_files(place, problem)]
    return hashlib.sha256(b"".join(one.digest() for one in each)).hexdigest()
