"""The task file of a family of two tasks."""

from pathlib import Path

import pytest
from tiny_pretraining import FAMILY


@pytest.fixture
def family(tmp_path: Path) -> Path:
    """Write a task file of two tasks and return it."""
    file = tmp_path / "family.toml"
    file.write_text(FAMILY)
    return file
