"""A pretraining that takes a fraction of a second, for tests of meta-training."""

from pathlib import Path
from typing import Any

from tiny_runs import MODEL

from lifelong_co.config.run_config import Config
from lifelong_co.pretraining.settings import configure

FAMILY = """
epochs = 1
batches = 1
batch_size = 4
tasks = [{distribution = "U", size = 5}, {distribution = "E", size = 6}]
"""
"""The task file of a family of two tasks."""


def tiny(family: Path, algorithm: str = "fomaml", solver: str = "pomo", **options: Any) -> Config:
    """Return a pretraining on the tasks of a task file."""
    fast = {
        "iterations": 4,
        "validate_every": 2,
        "inner_steps": 2,
        "inner_learning_rate": 1e-2,
        "meta_learning_rate": 0.5 if algorithm == "reptile" else 1e-2,
    }
    return configure(
        algorithm=algorithm,
        options={**fast, **options},
        solver=solver,
        problem="tsp",
        tasks_file=family,
        tests=3,
        solver_options=dict(MODEL),
    )
