"""Optional packages that are not installed."""

import builtins

import numpy as np
import pytest

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.references import packages
from lifelong_co.experiments.references.heuristic import search
from lifelong_co.experiments.references.subject import Model


def test_an_absent_package_is_named_with_its_extra(monkeypatch):
    """The error says what to install."""
    real = builtins.__import__
    monkeypatch.setattr(
        packages.importlib, "import_module", lambda name: real(f"absent_{name}", level=0)
    )
    with pytest.raises(ConfigError, match=r"package pyvrp, .*lifelong-co\[reference\]"):
        search(Model(np.zeros((3, 3), dtype=np.int64)), iterations=1, restarts=1, seconds=1, seed=0)
