"""Writing files completely or not at all."""

import os
from pathlib import Path

import pytest

from lifelong_co.errors import ConfigError
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
    with pytest.raises(OSError, match=r"No space left on device: '.*file\.txt'$"):
        files.write_whole(path, "after")
    assert path.read_text() == "before"
    assert [found.name for found in tmp_path.iterdir()] == ["file.txt"]
    with pytest.raises(OSError, match="No space left"):
        files.synchronize(tmp_path)


@pytest.mark.parametrize("name", ["a" * 255, "é" * 127, "日" * 85], ids=len)
def test_longest_names_are_written(tmp_path: Path, name: str) -> None:
    """The file that is made first has a shorter name."""
    files.write_whole(tmp_path / name, "x")
    assert [found.name for found in tmp_path.iterdir()] == [name]


def test_long_names_are_cut_and_stay_different() -> None:
    """A short one is as it was."""
    assert files.short_name("tasks") == "tasks"
    one, two = (files.short_name("日" * 100 + end) for end in "ab")
    assert one != two
    assert one.startswith("日" * 60)
    assert len(one.encode()) < 200


def test_folder_that_can_be_made_passes(tmp_path: Path) -> None:
    """It may be missing together with folders above it; nothing is made."""
    files.refuse_unwritable(tmp_path)
    files.refuse_unwritable(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []


def test_folder_below_a_file_is_refused(tmp_path: Path) -> None:
    """The error names the folder and the file."""
    file = tmp_path / "notes.txt"
    file.write_text("precious")
    for folder, got in ((file, "got a file"), (file / "a" / "b", f"but {file} is a file")):
        with pytest.raises(ConfigError) as refused:
            files.refuse_unwritable(folder)
        assert str(refused.value) == f"{folder}: expected a folder, {got}"


def test_file_that_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder, a missing or read-only folder above it, and a file that exists."""
    old = tmp_path / "old.txt"
    old.write_text("precious")
    files.refuse_unwritable_file(tmp_path / "new.txt")
    files.refuse_unwritable_file(old, overwrite=True)
    for path, said in (
        (old, "exists already"),
        (tmp_path, "exists already"),
        (tmp_path / "a" / "new.txt", "is no folder"),
    ):
        with pytest.raises(ConfigError, match=said):
            files.refuse_unwritable_file(path)
    with pytest.raises(ConfigError, match="expected a file to write, got a folder"):
        files.refuse_unwritable_file(tmp_path, overwrite=True)
    with monkeypatch.context() as without_rights:
        without_rights.setattr(os, "access", lambda place, _: place != tmp_path)
        with pytest.raises(ConfigError, match=f"no permission to write to {tmp_path}"):
            files.refuse_unwritable_file(old, overwrite=True)


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
