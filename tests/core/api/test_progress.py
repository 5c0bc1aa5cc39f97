"""The progress of a run: the work done and the time left."""

from types import SimpleNamespace

import attrs
import pytest
from tiny_runs import tiny_config

from lifelong_co.api import progress
from lifelong_co.api.progress import Clock, Quiet, duration
from lifelong_co.runs.folder import RunFolder


@pytest.fixture
def run(tmp_path):
    """Return a run of two tasks, of 10 and 20 nodes, of two epochs with two batches."""
    config = tiny_config(sizes=(10, 20))
    learner = SimpleNamespace(task=0, epoch=0, batch=0)
    method = SimpleNamespace(batches=lambda _: 2)
    return SimpleNamespace(
        config=config, learner=learner, method=method, folder=RunFolder(tmp_path)
    )


def test_work_done_reaches_the_total(run):
    """The second task has steps of four times the work."""
    clock = Clock(run)
    assert clock.total == 4 * 4 * (100 + 400)
    assert clock.done(run) == 0
    run.learner.task, run.learner.epoch, run.learner.batch = 1, 1, 2
    assert clock.done(run) == clock.total


def test_time_left_knows_that_later_sizes_are_slower(run, monkeypatch):
    """Steps of one second: 2 more of them, and 4 of the second task with four times the work."""
    times = iter([0.0, 1.0, 2.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(times))
    clock = Clock(run)
    assert clock.left(run) == "time left unknown"
    for batch in (1, 2):
        run.learner.batch = batch
        clock.note(run)
    assert clock.left(run) == "18 s left"


def test_task_of_files_without_a_size_has_the_work_of_its_largest_instance(run):
    """``data.json`` knows it."""
    task = attrs.evolve(run.config.tasks[1], distribution="", size=0, files="b", name="b")
    run.config = attrs.evolve(run.config, tasks=(run.config.tasks[0], task))
    (run.folder.path / "data.json").write_text('{"b": {"files": "0", "largest": 30}}')
    assert Clock(run).total == 4 * 4 * (100 + 900)


def test_steps_of_a_method_that_mixes_tasks_are_alike(run, monkeypatch):
    """In the first task a step takes as long as in the second: 6 of 8 steps are left."""
    run.config = attrs.evolve(run.config, method="multi-task-batch")
    times = iter([0.0, 1.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(times))
    clock = Clock(run)
    for batch in (1, 2):
        run.learner.batch = batch
        clock.note(run)
    assert clock.done(run) == clock.total / 4
    assert clock.left(run) == "6 s left"


def test_time_left_uses_what_was_measured(run, monkeypatch):
    """In the second task its own steps count."""
    run.config = attrs.evolve(run.config)
    times = iter([0.0, 1.0, 3.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(times))
    clock = Clock(run)
    run.learner.epoch, run.learner.batch = 1, 1
    clock.note(run)
    run.learner.batch = 2
    clock.note(run)
    run.learner.task, run.learner.epoch, run.learner.batch = 1, 0, 1
    clock.note(run)
    assert clock.left(run) == "6 s left"


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.4, "0 s"), (89, "89 s"), (600, "10 min"), (9000, "2.5 h")]
)
def test_duration_is_short(seconds, shown):
    """Seconds, minutes or hours."""
    assert duration(seconds) == shown


def test_quiet_shows_nothing(run, capsys):
    """Neither steps nor lines."""
    shown = Quiet()
    shown.on_step(run, {})
    shown.log("a line")
    assert capsys.readouterr().out == ""
