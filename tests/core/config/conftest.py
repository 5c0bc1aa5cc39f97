"""Task files for the tests of configurations."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def task_file(tmp_path: Path) -> Any:
    """Return a function that writes a task file."""

    def write(content: str) -> Path:
        path = tmp_path / "mine.toml"
        path.write_text(content, encoding="utf-8")
        return path

    return write
