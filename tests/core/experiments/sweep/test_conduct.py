"""Plans carried out: runs that die, fail, get further or are stopped."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import attrs
import pytest
from synthetic_sweeps import Ended, Invented

from lifelong_co.errors import ConfigError, Interrupted
from lifelong_co.experiments.comparison.runs import load_run
from lifelong_co.experiments.sweep import conduct as conducting
from lifelong_co.experiments.sweep import table
from lifelong_co.experiments.sweep.conduct import conduct, locked, refuse_other_content
from lifelong_co.experiments.sweep.engines import RefusedError
from lifelong_co.experiments.sweep.estimate import remaining
from lifelong_co.experiments.sweep.plan import Plan


def named(plan: Plan, method: str) -> str:
    """Return the name of the job of a method."""
    [name] = [name for name, job in plan.jobs.items() if job.config.method == method]
    return name


def test_a_run_that_dies_once_is_resumed(plan):
    """The others go on meanwhile; each is finished once."""
    name = named(plan, "llr-bc")
    engine, logged = Invented({name: [-9]}), []
    assert conduct(plan, engine, log=logged.append) == {}
    assert sorted(engine.attempts) == sorted([*plan.jobs, name])
    assert all(job.finished for job in plan.jobs.values())
    assert f"{name} ended with signal 9; resuming it" in logged
    # All is there, so there is nothing left to do.
    again = Invented()
    assert conduct(plan, again) == {}
    assert again.attempts == []


def test_a_finished_run_is_read_twice_at_most(plan, monkeypatch):
    """Once when it ends and once for the table, however many runs end after it."""
    read: list[Path] = []

    def noted(folder):
        read.append(folder)
        return load_run(folder)

    monkeypatch.setattr("lifelong_co.experiments.sweep.job.load_run", noted)
    conduct(plan, Invented(), time_left=lambda done: str(remaining(plan, done)))
    table.gather(plan)
    assert sorted(read) == sorted([job.folder for job in plan.jobs.values()] * 2)


def test_a_run_that_always_fails_is_named(plan):
    """It is tried three times, said to have failed with its last line, and the others finish."""
    name = named(plan, "der++")
    engine = Invented({name: [1] * 9})
    assert conduct(plan, engine) == {name: "status 1: it broke"}
    assert engine.attempts.count(name) == 3
    assert [each for each, job in plan.jobs.items() if not job.finished] == [name]
    results = table.gather(plan)
    assert f"missing: {name}" in table.as_text(results)
    assert "| der++ | 0 of 1 | - | - | - | - | - |" in table.as_markdown(results)


@pytest.mark.parametrize("status", [2, 3])
def test_a_run_that_would_end_so_again_is_not_tried_again(plan, status):
    """A setting that cannot be used, or a number of a step that is not finite: it stays so."""
    name = named(plan, "feng")
    engine = Invented({name: [status] * 9})
    assert conduct(plan, engine) == {name: f"status {status}: it broke"}
    assert engine.attempts.count(name) == 1


def test_a_run_that_gets_further_each_time_is_resumed_again(plan):
    """Deaths count only while no checkpoint is added: a job's time limit is no failure."""
    name = named(plan, "feng")
    places = plan.jobs[name].folder / "checkpoints"

    class Slow(Invented):
        def submit(self, arguments: Sequence[str], log: Path) -> Ended:
            handle = Invented.submit(self, arguments, log)
            step = self.attempts.count(name)
            if self.attempts[-1] == name:
                (places / f"checkpoint-{step:08d}.safetensors").write_text("")
            return handle

    engine = Slow({name: [-9] * 6}, slots=1)
    assert conduct(plan, engine, retries=0) == {}
    assert engine.attempts.count(name) == 7


def test_checkpoints_from_before_the_sweep_are_no_progress(plan):
    """A run that only dies is tried once, also if it has been begun before."""
    name = named(plan, "feng")
    plan.jobs[name].prepare()
    places = plan.jobs[name].folder / "checkpoints"
    (places / "checkpoint-00000003.safetensors").write_text("")
    engine = Invented({name: [-9] * 6})
    assert conduct(plan, engine, retries=0) == {name: "signal 9: it broke"}
    assert engine.attempts.count(name) == 1


def test_stop_ends_the_runs_and_the_sweep(plan):
    """Runs are asked once, and the error names the folder to resume."""
    engine = Invented({name: [None] * 9 for name in plan.jobs})
    with pytest.raises(Interrupted, match=f"resume it from the folder {plan.folder}"):
        conduct(plan, engine, stop=lambda: len(engine.attempts) == engine.slots)
    assert len(engine.attempts) == engine.slots
    assert not any(job.finished for job in plan.jobs.values())


@attrs.define
class Full(Invented):
    """An engine that refuses a job after each that it takes."""

    slots: int = 4
    asked: int = 0
    for_good: bool = False

    def submit(self, arguments, log):
        """Do a run, or refuse it."""
        self.asked += 1
        if self.asked % 2 == 0 or (self.for_good and self.asked > 1):
            raise RefusedError("the queue took no job: limit")
        return super().submit(arguments, log)


def test_a_full_queue_is_asked_again(plan, monkeypatch):
    """A job that has ended can still be in the queue for a while."""
    monkeypatch.setattr(conducting, "LATER", 0.01)
    logged: list[str] = []
    assert conduct(plan, Full(), log=logged.append) == {}
    said = "the queue took no job: limit; trying again in 0.01 seconds"
    assert logged.count(said) == len(plan.jobs) - 1
    assert all(job.finished for job in plan.jobs.values())


def test_a_queue_that_stays_full_ends_the_sweep(plan, monkeypatch):
    """With no run in progress it is asked three times more."""
    monkeypatch.setattr(conducting, "LATER", 0.01)
    engine = Full(for_good=True)
    with pytest.raises(RefusedError, match="limit"):
        conduct(plan, engine)
    assert len(engine.attempts) == 1
    assert engine.asked == 2 + conducting.REFUSALS + 1  # the second while the first was running


def test_a_stop_ends_the_submission(plan):
    """A queue can take hundreds of jobs, each for a second."""
    engine = Invented(slots=4, events={name: [None] for name in plan.jobs})
    asked = iter([False, False, True])
    with pytest.raises(Interrupted):
        conduct(plan, engine, stop=lambda: next(asked, True))
    assert len(engine.attempts) == 1


def test_second_sweep_in_a_folder_is_refused(tmp_path):
    """A second one is refused, also while a run holds on to the lock that it inherited."""
    with locked(tmp_path / "sweep") as lock:
        with (
            pytest.raises(ConfigError, match="another sweep, or a run of an earlier sweep"),
            locked(tmp_path / "sweep"),
        ):
            raise AssertionError
        child = subprocess.Popen(
            [sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(lock,)
        )
    with pytest.raises(ConfigError, match="still working"), locked(tmp_path / "sweep"):
        raise AssertionError
    child.communicate(b"\n")
    with locked(tmp_path / "sweep") as lock:
        os.fstat(lock)


def test_folder_with_other_files_is_refused(tmp_path):
    """A folder of runs, of a killed sweep or of an earlier sweep passes; nothing is made."""
    refuse_other_content(tmp_path / "new")
    (tmp_path / "lock").touch()
    (tmp_path / "runs").mkdir()
    refuse_other_content(tmp_path)
    (tmp_path / "notes.txt").write_text("precious")
    with pytest.raises(ConfigError, match=r"got one with notes\.txt"):
        refuse_other_content(tmp_path)
    (tmp_path / "sweep.toml").touch()
    refuse_other_content(tmp_path)
    assert not (tmp_path / "new").exists()
