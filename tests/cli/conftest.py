"""Runs that several tests of the command line read; each is made once."""

from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
from command_line import Outcome, call, run_options
from resumed_runs import config

from lifelong_co.learner import learn
from lifelong_co.runs.prepare import prepare

TASKS = """
epochs = 2
batches = 3
batch_size = 4

[[tasks]]
distribution = "U"
size = 6

[[tasks]]
distribution = "E"
size = 7

[[tasks]]
distribution = "U"
size = 6
"""


@attrs.frozen
class Finished:
    """A finished run: folder, command line and output."""

    folder: Path
    options: list[str]
    outcome: Outcome


@pytest.fixture(scope="session")
def task_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a sequence of three tasks; the last one is the first one again."""
    path = tmp_path_factory.mktemp("tasks") / "tasks.toml"
    path.write_text(TASKS)
    return path


@pytest.fixture(scope="session")
def finished(
    tmp_path_factory: pytest.TempPathFactory, task_file: Path
) -> Callable[[str, str], Finished]:
    """Return ``finished(method, problem)``; tests only read the folder."""
    made: dict[tuple[str, str], Finished] = {}

    def run(method: str = "llr-bc", problem: str = "cvrp") -> Finished:
        if (method, problem) not in made:
            folder = tmp_path_factory.mktemp("finished") / f"{problem} {method}"
            options = run_options(task_file, method, problem)
            outcome = call(*options, "--out", folder)
            assert outcome.status == 0, outcome.err
            made[method, problem] = Finished(folder, options, outcome)
        return made[method, problem]

    return run


@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Carry out `config` from the start to the end."""
    folder = tmp_path_factory.mktemp("uninterrupted") / "run"
    learn(prepare(config(), folder))
    return folder
