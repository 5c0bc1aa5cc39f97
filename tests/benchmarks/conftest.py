"""The modules of ``benchmarks/``, which is no package."""

import importlib
from collections.abc import Callable
from typing import Any

import pytest
from paths import ROOT


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Return a function that imports a module of ``benchmarks/`` by its name."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module


@pytest.fixture
def found(program: Callable[[str], Any]) -> Any:
    """Return the stored runs of the study of all methods."""
    return program("page").results("methods")
