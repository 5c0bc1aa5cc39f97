"""Fixtures for plugins: a new registry, and packages that seem installed."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lifelong_co import hookimpl


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


@pytest.fixture
def plugin() -> Callable[..., ModuleType]:
    """Return ``plugin(hook, *arguments, module="third_party")``: a module with one hook.

    The hook calls ``register(*arguments)``.
    """

    def build(hook: str, *arguments: Any, module: str = "third_party") -> ModuleType:
        def implementation(register: Callable[..., None]) -> None:
            register(*arguments)

        made = ModuleType(module)
        setattr(made, hook, hookimpl(implementation))
        return made

    return build
