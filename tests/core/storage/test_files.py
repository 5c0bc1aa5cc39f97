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
