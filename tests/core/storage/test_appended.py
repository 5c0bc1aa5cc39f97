"""Files that grow at the end: their checksum, what is cut off, and what is refused."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from lifelong_co.errors import FileFormatError
from lifelong_co.storage.appended import Appended, checked, checksum_file

PARTS = ["a\n", "Größe ≤ 1\n", "", "c\r\nd\n"]


def written(folder: Path) -> Appended:
    """Return a file with all parts."""
    file = Appended(folder / "file.txt")
    for part in PARTS:
        file.append(part)
    return file


def test_file_holds_all_that_was_appended(tmp_path: Path) -> None:
    """Size, hash and checksum are those of the whole content, and no other file is left."""
    file = written(tmp_path)
    content = "".join(PARTS).encode()
    assert file.path.read_bytes() == content
    assert (file.size, file.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert checked(file.path) == content.decode()
    done = subprocess.run(["sha256sum", "--strict", "-c", checksum_file(file.path)], cwd=tmp_path)
    assert done.returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {"file.txt", "file.txt.sha256"}


def test_new_file_replaces_an_old_one(tmp_path: Path) -> None:
    """Even an empty text makes the file."""
    (tmp_path / "file.txt").write_text("of another run")
    Appended(tmp_path / "file.txt").append("")
    assert checked(tmp_path / "file.txt") == ""


def test_reopened_file_goes_on_as_before(tmp_path: Path) -> None:
    """Later bytes are cut off, and a missing checksum is written again."""
    file = written(tmp_path)
    with file.path.open("a") as end:
        end.write("later\nand to")
    checksum_file(file.path).unlink()
    found = Appended.reopen(file.path, file.size, file.sha256)
    assert found is not None
    assert checked(file.path) == "".join(PARTS)
    assert checksum_file(file.path).exists()
    found.append("e\n")
    file.append("e\n")
    assert (found.size, found.sha256) == (file.size, file.sha256)


@pytest.mark.parametrize("damage", ["missing", "short", "altered"])
def test_other_content_is_not_reopened(tmp_path: Path, damage: str) -> None:
    """The file stays as it was found."""
    file = written(tmp_path)
    content = file.path.read_bytes()
    left = {"missing": None, "short": content[:-1], "altered": b"b" + content[1:]}[damage]
    file.path.unlink()
    if left is not None:
        file.path.write_bytes(left)
    assert Appended.reopen(file.path, file.size, file.sha256) is None
    assert (file.path.read_bytes() if file.path.exists() else None) == left


def test_failed_append_is_replaced_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part that reached the file before the disk failed does not stay."""
    file = Appended(tmp_path / "file.txt")
    file.append("first\n")

    def fail(descriptor: int) -> None:  # noqa: ARG001
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match=r"No space left.*file\.txt"):
            file.append("second, which is long\n")
    assert checked(file.path) == "first\n"
    file.append("2\n")
    assert file.path.read_text() == checked(file.path) == "first\n2\n"


@pytest.mark.parametrize("damage", ["cut", "flipped", "checksum", "empty checksum"])
def test_damaged_file_is_refused(tmp_path: Path, damage: str) -> None:
    """The error names the file, the expected hash and the one that it has."""
    file = written(tmp_path)
    content = file.path.read_bytes()
    if damage == "cut":
        file.path.write_bytes(content[:-1])
    elif damage == "flipped":
        file.path.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    else:
        checksum_file(file.path).write_bytes(b"\xff" * 70 if damage == "checksum" else b"")
    got = hashlib.sha256(file.path.read_bytes()).hexdigest()
    said = rf"file\.txt: truncated or altered, expected SHA-256 .*file\.txt\.sha256, got {got}"
    with pytest.raises(FileFormatError, match=said):
        checked(file.path)


def test_file_without_a_checksum_is_read_whole(tmp_path: Path) -> None:
    """Earlier versions wrote none; a byte that is not UTF-8 is replaced."""
    (tmp_path / "old").write_bytes(b"a\n\xff")
    assert checked(tmp_path / "old") == "a\n�"
    with pytest.raises(FileNotFoundError):
        checked(tmp_path / "absent")
