"""The picture of sample instances."""

from pathlib import Path

import pytest

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.comparison import figures
from lifelong_co.experiments.comparison.samples import plot_samples

PNG = b"\x89PNG\r\n\x1a\n"


def test_samples_are_drawn_into_a_new_file(tmp_path: Path) -> None:
    """The picture is wider than high; an existing file is refused and does not change."""
    path = tmp_path / "samples.png"
    plot_samples(path)
    content = path.read_bytes()
    assert content.startswith(PNG)
    width, height = (int.from_bytes(content[i : i + 4], "big") for i in (16, 20))
    assert width > 2 * height > 0
    path.write_bytes(b"mine")
    with pytest.raises(ConfigError, match=r"samples\.png"):
        plot_samples(path)
    assert path.read_bytes() == b"mine"


def test_missing_matplotlib_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install, and no file is written."""
    monkeypatch.setattr(figures, "available", lambda: False)
    with pytest.raises(ConfigError, match=r"needs matplotlib: pip install 'lifelong-co\[plot\]'"):
        plot_samples(tmp_path / "samples.png")
    assert list(tmp_path.iterdir()) == []
