"""Sweeps whose runs are processes or jobs, killed in the middle."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import forked_sweep
import pytest
from command_line import MODEL, REPLAY, results, spawn, wait

from lifelong_co.experiments.sweep import table
from lifelong_co.experiments.sweep.job import Job
from lifelong_co.experiments.sweep.plan import Plan

TASKS = """
epochs = 2
batches = 12
batch_size = 4
tasks = [{distribution = "U", size = 6}, {distribution = "E", size = 5}]
"""
EPOCHS = 4  # of both tasks
WAIT = 400  # seconds at most; a twentieth of that where nothing else is at work

pytestmark = pytest.mark.timeout(900)
METHODS = 'methods = ["fine-tuning"]\nvariants = [{name = "other", method = "METHOD"OPTIONS}]'
# `restart`, but a job that runs it is killed the first time that it reaches the second task.
PLUGIN = """
import os, signal
from pathlib import Path
import attrs
import lifelong_co as lco

DIED = Path(__file__).with_name("died")

def dies_once():
    def loss_terms(learner, rollout):
        if learner.task == 1 and "SUBMITIT_LOCAL_JOB_ID" in os.environ and not DIED.exists():
            DIED.touch()
            os.kill(os.getppid(), signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)
        return ()
    method = lco.method("restart")
    return attrs.evolve(method, loss_terms=loss_terms)

@lco.hookimpl
def register_methods(register):
    register("dies-once", dies_once)
"""


def sweep_file(folder: Path, method: str, seeds: str, options: str = "") -> Path:
    """Write a sweep of fine-tuning and another method; return the file."""
    folder.mkdir()
    (folder / "tasks.toml").write_text(TASKS)
    inline = ", ".join(f"{name} = {value}" for name, value in MODEL.items())
    rows = METHODS.replace("METHOD", method).replace("OPTIONS", options)
    (folder / "sweep.toml").write_text(f"""
tasks = ["tasks.toml"]
seeds = "{seeds}"
device = "cpu"
tests = 4
curve_every = 2
solver_options = {{{inline}}}
{rows}
""")
    return folder / "sweep.toml"


def undisturbed(file: Path, folder: Path) -> Plan:
    """Do the runs of a sweep in this process, one after another, and write their table."""
    plan = forked_sweep.plan_of(file, folder)
    for job in plan.jobs.values():
        job.prepare()
        forked_sweep.run(job.folder)
    (folder / "table.txt").write_text(table.as_text(table.gather(plan)))
    (folder / "table.csv").write_text(table.as_csv(table.gather(plan)))
    return plan


def over(job: Job) -> bool:
    """Return whether a run has ended; cheaper than `Job.finished`, which reads it."""
    return (job.folder / "report.html").exists()


def learning(job: Job) -> bool:
    """Return whether a run has saved something and has an epoch to go."""
    log = job.folder / "log.jsonl"
    return job.begun and (log.read_text().count("\n") if log.exists() else 0) < EPOCHS


def test_sweep_killed_with_its_runs_ends_with_the_same_results(tmp_path):
    """SIGKILL ends a sweep of six runs while one learns; then the sweep starts again.

    Three runs are finished before the sweep starts, because each process takes seconds.
    `test_sweep_killed` does eight.
    """
    options = ", ".join(f"{name} = {value}" for name, value in REPLAY.items())
    options = f', options = {{record = "every-epoch", {options}}}'
    file = sweep_file(tmp_path / "given", "llr-bc", "0-2", options)
    whole = undisturbed(file, tmp_path / "whole")
    assert len(whole.jobs) == 6
    killed = forked_sweep.plan_of(file, tmp_path / "killed")
    jobs = list(killed.jobs.values())
    for job in jobs[:3]:
        shutil.copytree(whole.jobs[job.name].folder, job.folder)
    command = ("sweep", file, f"--out={killed.folder}", "--workers=2")
    with group(*command) as process:
        until(lambda: sum(map(over, jobs)) > 3 and any(map(learning, jobs)), process)
    assert process.returncode == -signal.SIGKILL
    done = sum(job.finished for job in jobs)
    assert 3 < done < 6
    assert any(job.begun and not job.finished for job in jobs)
    with group(*command) as process:
        again = wait(process, WAIT)
    assert again.status == 0, again
    assert again.out.startswith(f"6 runs, {done} of them finished, in {killed.folder}\n")
    same_in_the_end(killed.folder, whole)


def test_sweep_of_submitit_with_a_killed_job_ends_with_the_same_table(tmp_path, monkeypatch):
    """SIGKILL ends one of two jobs in the middle; the job is resumed.

    The test kills the process of submitit, which then leaves no result, and the run below it.
    """
    pytest.importorskip("submitit")
    whole = undisturbed(sweep_file(tmp_path / "same", "restart", "0"), tmp_path / "whole")
    site = tmp_path / "site"
    info = site / "dies_once-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dies-once\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[lifelong_co]\ndies-once = dies_once\n")
    (site / "dies_once.py").write_text(PLUGIN)
    paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    monkeypatch.delenv("LIFELONG_CO_LOAD_PLUGINS", raising=False)
    file = sweep_file(tmp_path / "given", "dies-once", "0")
    folder = tmp_path / "out"
    engine = ("--engine=submitit-local", "--engine-option=timeout_min=5", "--workers=2")
    with group("sweep", file, f"--out={folder}", *engine) as process:
        ended = wait(process, WAIT)
    assert ended.status == 0, ended
    assert (site / "died").exists()
    name = "cvrp-pomo-other-small-tasks-seed0"
    assert ended.out.count(f"{name} ended with signal 9; resuming it") == 1, ended
    assert ended.out.count("; resuming it") == 1
    assert "continuing after step" in (folder / "logs" / f"{name}.log").read_text()
    assert list((folder / "cluster").glob("*_result.pkl")), "the runs were jobs of submitit"
    same_in_the_end(folder, whole)


def same_in_the_end(folder: Path, whole: Plan) -> None:
    """Compare tables and runs of a finished sweep with those of an undisturbed one."""
    for name in ("table.txt", "table.csv"):
        assert (folder / name).read_text() == (whole.folder / name).read_text()
    assert {path.name for path in (folder / "runs").iterdir()} == set(whole.jobs)
    for name, job in whole.jobs.items():
        assert results(folder / "runs" / name) == results(job.folder), name


@contextlib.contextmanager
def group(*arguments: object) -> "Iterator[subprocess.Popen[str]]":
    """Start `lifelong-co` in a new process group, and kill the group at the end."""
    process = spawn(*arguments, process_group=0)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def until(happened: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    """Wait until something has happened while a process runs."""
    end = time.monotonic() + WAIT
    while not happened():
        assert process.poll() is None, wait(process)
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
