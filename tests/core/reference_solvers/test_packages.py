"""Optional packages that are not installed."""

import builtins

import numpy as np
import pytest

from lifelong_co.errors import ConfigError
from lifelong_co.problems.reference_models import TourModel
from lifelong_co.reference_solvers import Settings, packages


def test_an_absent_package_is_named_with_its_extra(monkeypatch):
    """The error says what to install."""
    real = builtins.__import__
    monkeypatch.setattr(
        packages.importlib, "import_module", lambda name: real(f"absent_{name}", level=0)
    )
    with pytest.raises(ConfigError, match=r"package pyvrp, .*lifelong-co\[reference\]"):
        TourModel(np.zeros((4, 4), dtype=np.int64)).solve(Settings())
