"""A run that the tests of the Python interface share; they only read its folder."""

import pytest
from tiny_runs import MODEL

import lifelong_co as lco
from lifelong_co import StoredRun, Task

TASKS = tuple(Task(distribution="U", size=n, epochs=2, batches=2, batch_size=4) for n in (5, 6))


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    """Learn two tasks of the TSP with llr-bc."""
    folder = tmp_path_factory.mktemp("api") / "run"
    return lco.learn(
        problem="tsp",
        tasks=TASKS,
        out=folder,
        device="cpu",
        tests=3,
        progress=False,
        solver_options=MODEL,
        loggers=["csv"],
    )
