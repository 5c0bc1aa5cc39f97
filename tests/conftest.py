"""What all tests share: Hypothesis without deadlines, a new registry, and installed plugins."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from lifelong_co import registry

# No deadline, because machines are shared; derandomized, so that failures can be repeated.
settings.register_profile("lifelong-co", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("lifelong-co")

# Also where there is a GPU: most tests compare numbers of the CPU. `benchmarks/gpu.py` tests a GPU.
os.environ["CUDA_VISIBLE_DEVICES"] = ""


@pytest.fixture
def fresh_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hide installed third-party plugins during a test, and clear the registry afterwards."""
    monkeypatch.setenv("LIFELONG_CO_LOAD_PLUGINS", "")
    registry.reload()
    yield
    registry.reload()


@pytest.fixture
def install(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fresh_registry: None,  # noqa: ARG001
) -> Iterator[Callable[..., None]]:
    """Return ``install(distribution, version="1.0", **modules)``, which fakes ``pip install``.

    Each module, given as source, becomes an entry point with the module's name. Then all plugins
    are loaded, not only ours.
    """
    installed: list[str] = []
    monkeypatch.delenv("LIFELONG_CO_LOAD_PLUGINS")

    def fake(distribution: str, version: str = "1.0", **modules: str) -> None:
        info = tmp_path / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
        )
        points = "".join(f"{module} = {module}\n" for module in modules)
        (info / "entry_points.txt").write_text(f"[lifelong_co]\n{points}")
        for module, source in modules.items():
            (tmp_path / f"{module}.py").write_text(source)
            installed.append(module)
        monkeypatch.syspath_prepend(tmp_path)

    yield fake
    for module in installed:
        sys.modules.pop(module, None)
