"""Writing files completely or not at all."""

import os
from pathlib import Path

import pytest

from lifelong_co.storage import files


@pytest.mark.parametrize("content", ["Größe\n≤ 1\n", b"\x00\r\n\xff", "", "a\r\nb"])
def test_written_content_is_exact(tmp_path: Path, content: str | bytes) -> None:
    """Text is UTF-8 with unchanged line ends, bytes stay bytes, and no other file is left."""
    path = tmp_path / "file.txt"
    path.write_text("before")
    files.write_whole(path, content)
    assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert [found.name for found in tmp_path.iterdir()] == ["file.txt"]


def test_failed_write_keeps_the_old_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the disk fails in the middle, the old content stays and no part is left."""
    path = tmp_path / "file.txt"
    files.write_whole(path, "before")

    def fail(descriptor: int) -> None:  # noqa: ARG001
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        files.write_whole(path, "after")
    assert path.read_text() == "before"
    assert [found.name for found in tmp_path.iterdir()] == ["file.txt"]
    with pytest.raises(OSError, match="No space left"):
        files.synchronize(tmp_path)


def test_error_names_the_file_and_not_the_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk gives no name, and a folder that is missing gives another one."""

    def fail(descriptor: int) -> None:  # noqa: ARG001
        raise OSError(28, "No space left on device")

    for folder in (tmp_path, tmp_path / "missing"):
        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="file") as raised:
            files.write_whole(folder / "file", "text")
        assert raised.value.filename == str(folder / "file")


def test_only_leftovers_of_writing_are_temporaries(tmp_path: Path) -> None:
    """A write that is killed leaves one; other hidden files are not ours."""
    (tmp_path / "below").mkdir()
    names = ("below/.a.csv.0123abcd.tmp", ".a.csv.tmp", "a.csv.0123abcd.tmp", ".a.0123abcd.tmp~")
    for name in names:
        (tmp_path / name).touch()
    assert list(files.temporaries(tmp_path)) == [tmp_path / names[0]]
