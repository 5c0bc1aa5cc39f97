"""The modules of ``benchmarks/``, which is no package."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from paths import ROOT
from synthetic_runs import write

from lifelong_co.experiments.comparison.runs import FinishedRun, load_run
from lifelong_co.experiments.sweep.grid import read_grids
from lifelong_co.experiments.sweep.plan import make_plan
from lifelong_co.experiments.sweep.table import Results, results_of


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Return a function that imports a module of ``benchmarks/`` by its name."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module


@pytest.fixture
def found(program: Callable[[str], Any]) -> Any:
    """Return the stored runs of the study of all methods."""
    return program("page").results("methods")


@pytest.fixture
def finished(tmp_path: Path) -> Callable[..., Results]:
    """Return a function that makes runs of a file of grids; another function may change each."""

    def of(text: str, change: Callable[[FinishedRun], FinishedRun] = lambda run: run) -> Results:
        (tmp_path / "file.toml").write_text(text)
        plan = make_plan(read_grids(tmp_path / "file.toml"), tmp_path)
        jobs = plan.jobs.values()
        runs = {job.name: change(load_run(write(job.folder, job.config))) for job in jobs}
        return results_of(plan, runs)

    return of
