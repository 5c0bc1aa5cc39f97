"""Runs that are interrupted, and resumed in the tests."""

from pathlib import Path

import pytest
from command_line import MODEL, REPLAY

from lifelong_co.config.run_config import Config
from lifelong_co.errors import Interrupted
from lifelong_co.learner import learn
from lifelong_co.runs.prepare import prepare
from lifelong_co.tasks.task import Task


def config(epochs: int = 4) -> Config:
    """Return a run of llr-bc on the CVRP, with steps so large that an error in one would show."""
    budget = {"epochs": epochs, "batches": 3, "batch_size": 4}
    sequence = (("U", 6), ("E", 5), ("C", 6))
    return Config(
        solver="pomo",
        problem="cvrp",
        method="llr-bc",
        preset="small",
        order="1",
        seed=3,
        device="cpu",
        tests=4,
        curve_every=2,
        learning_rate=1e-2,
        solver_options=MODEL,
        method_options=REPLAY,
        tasks=tuple(Task(distribution=name, size=size, **budget) for name, size in sequence),
    )


def interrupt(folder: Path, of: Config, steps: int) -> None:
    """Start a run and stop it after some steps."""
    asked = iter(range(1, 10**6))
    with pytest.raises(Interrupted, match="stopped; resume it from the folder"):
        learn(prepare(of, folder), stop=lambda: next(asked) == steps)
