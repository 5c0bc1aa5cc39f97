"""Files that are there whole or not at all."""

import os
from pathlib import Path

import pytest

from lifelong_co.storage import files


@pytest.mark.parametrize("content", ["Größe\n≤ 1\n", b"\x00\r\n\xff", "", "a\r\nb"])
def test_files_hold_exactly_what_was_given(tmp_path: Path, content: str | bytes) -> None:
    """Text is UTF-8 with its own line ends, bytes are bytes, and nothing else is left behind."""
    path = tmp_path / "file.txt"
    path.write_text("before")
    files.write_whole(path, content)
    assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert [found.name for found in tmp_path.iterdir()] == ["file.txt"]


def test_a_file_that_cannot_be_finished_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the disk fails in the middle, the old content stays and no part is left."""
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
