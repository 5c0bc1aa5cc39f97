"""Runs of two methods, compared."""

from pathlib import Path

import pytest
import synthetic_runs

from lifelong_co.experiments.comparison.comparison import Comparison, compare_folders


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two seeds each of llr-bc and fine-tuning."""
    root = tmp_path_factory.mktemp("runs")
    return [
        synthetic_runs.write(root / f"{method}-{seed}", synthetic_runs.config(method, seed=seed))
        for method in ("llr-bc", "fine-tuning")
        for seed in (0, 1)
    ]


@pytest.fixture(scope="session")
def comparison(folders: list[Path]) -> Comparison:
    """Set the four runs side by side."""
    return compare_folders(folders)
