"""Drifting tasks and other distances: `run --drift` and `evaluate`."""

import json
from pathlib import Path

import pytest
from command_line import call, results, run_options, spawn, wait

from lifelong_co.errors import Interrupted
from lifelong_co.learner import learn
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.prepare import prepare

LABELS = ["U6", "E7", "U6 manhattan"]


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory, task_file: Path) -> list[str]:
    """Return the arguments of a run whose tasks drift, the last one to another distance."""
    file = tmp_path_factory.mktemp("drift") / "tasks.toml"
    file.write_text(task_file.read_text() + 'distance = "manhattan"\n')
    return [*run_options(file, "llr-bc", "cvrp"), "--drift"]


@pytest.fixture(scope="module")
def folder(options: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Do the run in a new process."""
    folder = tmp_path_factory.mktemp("drifting") / "run"
    done = wait(spawn(*options, "--out", folder))
    assert done.status == 0, done.err
    assert 'drift_from = "E euclidean"' in (folder / "config.toml").read_text()
    return folder


def test_run_folder_records_the_drift_of_each_task(folder):
    """Each task except the first drifts from the one before, also in distance."""
    tasks = RunFolder(folder).config().tasks
    assert [task.label for task in tasks] == LABELS
    assert [task.drift_from for task in tasks] == ["", "U", "E euclidean"]
    assert [task.distance for task in tasks] == ["euclidean", "euclidean", "manhattan"]
    assert json.loads((folder / "metrics.json").read_text())["tasks"] == LABELS
    assert (folder / "config.toml").read_text().count("distance") == 1


@pytest.mark.parametrize("steps", [8, 12, 16])
def test_drifting_run_resumes_to_the_same_bytes(steps, folder, tmp_path):
    """The run stops within a drift, between two drifts, and in the next one."""
    config = RunFolder(folder).config()
    asked = iter(range(1, 10**6))
    with pytest.raises(Interrupted):
        learn(prepare(config, tmp_path / "run"), stop=lambda: next(asked) == steps)
    learn(prepare(config, tmp_path / "run", resume=True))
    assert results(tmp_path / "run") == results(folder)


def test_drift_changes_the_costs_after_the_first_task(options, folder, tmp_path):
    """Without --drift the first task has the same costs; later tasks have not."""
    done = call(*options[:-1], "--out", tmp_path / "run")
    assert done.status == 0, done.err
    ours, theirs = (results(place) for place in (tmp_path / "run", folder))
    first = next(name for name in ours if "after-task-1" in name)
    last = next(name for name in ours if "after-task-3" in name)
    assert ours[first] == theirs[first]
    assert ours[last] != theirs[last]


def test_evaluate_takes_a_distance_for_a_new_task(folder):
    """A task of the run keeps its distance; for a new task it is the third word."""
    costs = json.loads((folder / "metrics.json").read_text())["costs"][-1]
    chosen = ("U6 manhattan", "U:6", "U:6:manhattan", "U:6:chebyshev")
    words = [word for name in chosen for word in ("--task", name)]
    shown = json.loads(call("evaluate", folder, *words, "--json").out)
    assert shown == {
        "U6 manhattan": costs[2],
        "U6": costs[0],
        "U6 chebyshev": shown["U6 chebyshev"],
    }
    assert shown["U6 chebyshev"] < shown["U6"] < shown["U6 manhattan"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--task", "U:6:taxi"), "Unknown distance 'taxi'; expected one of: euclidean, manhattan"),
        (("--task", "U6 chebyshev"), "Unknown task 'U6 chebyshev'; expected one of: U6, E7, U6 m"),
    ],
)
def test_unknown_task_or_distance_is_refused(arguments, said, folder):
    """The error is one line with the names that exist."""
    refused = call("evaluate", folder, *arguments)
    assert (refused.status, refused.out) == (2, "")
    assert said in refused.err


def test_resume_refuses_the_drift_option(folder):
    """The drift is part of the stored configuration."""
    refused = call("run", "--resume", folder, "--drift")
    assert refused.status == 2
    assert "leave out --drift" in refused.err
