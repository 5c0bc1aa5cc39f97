"""Text files that grow at the end, each with its checksum in a second file beside it.

``FILE.sha256`` has the form that ``sha256sum -c`` reads. It is written after the file itself. So
after a crash a file can be longer than its checksum says; `checked` leaves out what is too much.
"""

import hashlib
import io
import os
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.errors import FileFormatError
from lifelong_co.storage.files import synchronize, write_whole


@attrs.define(eq=False)
class Appended:
    """A file to append to; its hash is kept up to date, so that the file is not read again."""

    path: Path
    size: int = 0
    """Bytes of the file. A new file has 0: the first call of `append` replaces an old file."""
    _hash: Any = attrs.field(factory=hashlib.sha256)

    @property
    def sha256(self) -> str:
        """The SHA-256 hash of the content, 64 hexadecimal digits."""
        return str(self._hash.hexdigest())

    def append(self, text: str) -> None:
        """Add text at the end, and wait until it and the new checksum are on the disk.

        Raises
        ------
        OSError
            If the file cannot be written; the error has its name.
        """
        if self.size and not text:
            return
        data = text.encode()
        try:
            with self.path.open("r+b" if self.size else "wb") as file:
                file.seek(self.size)  # what a failed call has left after this point is replaced
                file.write(data)
                file.truncate()
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            error.filename = str(self.path)  # a full disk has no file name
            raise
        if not self.size:
            synchronize(self.path.parent)
        self._hash.update(data)
        self.size += len(data)
        write_whole(checksum_file(self.path), self._checksum())

    def _checksum(self) -> str:
        return f"{self.sha256}  {self.path.name}\n"

    @classmethod
    def reopen(cls, path: Path, size: int, sha256: str) -> "Appended | None":
        """Return a file that begins with the bytes of this size and hash, and cut off the rest.

        Returns
        -------
        None if the file is missing or begins with other bytes; then it stays unchanged.

        Raises
        ------
        OSError
            If the file exists and cannot be read or written.
        """
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        digest = hashlib.sha256(content[:size])
        if len(content) < size or digest.hexdigest() != sha256:
            return None
        if len(content) > size:
            with path.open("r+b") as file:
                file.truncate(size)
                file.flush()
                os.fsync(file.fileno())
        found = cls(path, size, digest)
        if _read(checksum_file(path)) != found._checksum().encode():
            write_whole(checksum_file(path), found._checksum())
        return found


def checksum_file(path: Path) -> Path:
    """Return the path of the file with a file's checksum."""
    return path.with_name(path.name + ".sha256")


def checked(path: Path) -> str:
    """Return the text of a file, as far as its checksum reaches.

    Lines after that come from an append that did not end, or has not ended yet. A file without a
    checksum comes from an earlier version, and its whole text is returned. Bytes that are not UTF-8
    become the character U+FFFD.

    Raises
    ------
    FileFormatError
        If the file and its checksum do not belong together.
    OSError
        If one of them cannot be read.
    """
    line = _read(checksum_file(path))  # first: the file may grow in the meantime
    content = path.read_bytes()
    if line is not None:
        expected = line[:64].decode(errors="replace")
        covered = _covered(content, expected)
        if covered is None:
            got = hashlib.sha256(content).hexdigest()
            raise FileFormatError(
                f"{path}: truncated or altered, expected SHA-256 {expected!r} as in"
                f" {checksum_file(path).name}, got {got}"
            )
        content = content[:covered]
    return content.decode(errors="replace")


def _covered(content: bytes, expected: str) -> int | None:
    """Return the number of bytes, up to the end of a line, that have the hash."""
    if hashlib.sha256(content).hexdigest() == expected:
        return len(content)
    digest, size = hashlib.sha256(), 0
    for line in io.BytesIO(content):
        if digest.hexdigest() == expected:
            return size
        digest.update(line)
        size += len(line)
    return None


def _read(path: Path) -> bytes | None:
    """Return the content of a file; None if it is missing."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
