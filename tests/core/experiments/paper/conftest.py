"""Runs of several methods, and a run with a buffer."""

from pathlib import Path

import pytest
from synthetic_chapters import ORDERS, write
from tiny_runs import tiny_config, tiny_learn

from lifelong_co.experiments.comparison.runs import FinishedRun, load_run
from lifelong_co.experiments.paper.collect import collect
from lifelong_co.experiments.paper.studies import Chapter, chapters
from lifelong_co.runs.run import Run as Learned


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two methods in two orders and with two seeds, and two settings varied in order 1."""
    root = tmp_path_factory.mktemp("runs")
    for order in ORDERS:
        for seed in (0, 1):
            for method in ("llr-bc", "fine-tuning"):
                write(root, f"{method}-{order}-{seed}", method, order, seed=seed)
    write(root, "alpha", options={"alpha": 10.0})
    write(root, "kld", options={"ablation": "KLD", "divergence": "kl"})
    write(root, "omni", "fine-tuning", solver="omni")
    return root


@pytest.fixture(scope="session")
def chapter(root: Path) -> Chapter:
    """Sort the runs."""
    (one,) = chapters(collect([root]).runs)
    return one


@pytest.fixture(scope="session")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Learned:
    """Learn two tasks with a buffer that holds all that is recorded."""
    return tiny_learn(tiny_config(replay_size=2), tmp_path_factory.mktemp("buffer"))


@pytest.fixture(scope="session")
def run(learned: Learned) -> FinishedRun:
    """Read the run back."""
    return load_run(learned.folder.path)
