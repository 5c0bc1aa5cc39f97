"""`lifelong-co sweep`, with processes of its own and through submitit."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import MODEL, call, spawn, timed, wait

from lifelong_co.experiments.sweep import cluster
from lifelong_co.experiments.sweep.grid import read_grids
from lifelong_co.experiments.sweep.lock import locked
from lifelong_co.experiments.sweep.plan import make_plan
from lifelong_co.storage import checkpoint

# Long enough that nothing ends before a signal can reach it.
TASKS = """
epochs = 3
batches = 400
batch_size = 4
tasks = [{distribution = "U", size = 6}, {distribution = "E", size = 5}]
"""


@pytest.fixture
def sweep_file(tmp_path: Path) -> Path:
    """Write a sweep of two runs."""
    (tmp_path / "tasks.toml").write_text(TASKS)
    inline = ", ".join(f"{name} = {value}" for name, value in MODEL.items())
    file = tmp_path / "sweep.toml"
    file.write_text(f"""
tasks = ["tasks.toml"]
seeds = "0-1"
device = "cpu"
tests = 2
methods = ["fine-tuning"]
solver_options = {{{inline}}}
""")
    return file


def test_dry_run_says_how_many_and_how_long(sweep_file, tmp_path):
    """Every run is listed with its time, what is said is called an estimate, nothing is written."""
    folder = tmp_path / "out"
    done = call("sweep", sweep_file, "--dry-run", "--workers=2", f"--out={folder}")
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == f"2 runs, 0 of them finished, in {folder}"
    for seed, line in zip((0, 1), lines[1:3], strict=True):
        assert line.startswith(f"  cvrp-pomo-fine-tuning-small-tasks-seed{seed}: to do, about ")
    assert lines[3].startswith("estimate: ")
    assert lines[3].endswith(" with 2 at once (from a few timed steps)")
    assert not folder.exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "expected FILE, --resume DIR or options of a grid, got none"),
        (["x.toml", "--methods=ewc"], "got both FILE and options of a grid"),
        (["--resume=x", "--seeds=0-1"], "got both --resume and options of a grid"),
        (["--resume=x", "--out=y"], "leave out --out and --device"),
        (["--resume=nowhere"], "sweep file nowhere/sweep.toml: cannot be read"),
        (["--methods=ewc", "--seeds=2-1"], "runs upwards"),
        (["--methods=ewc", "--orders=9", "--device=cpu"], "Unknown task order '9'"),
        (["--methods=ewk", "--device=cpu"], "Did you mean 'ewc'"),
        (["--methods=ewc", "--device=cpu", "--engine=ray"], "Unknown engine 'ray'"),
    ],
)
def test_what_cannot_be_swept(options, said):
    """One line and status 2."""
    refused = call("sweep", *options)
    assert refused.status == 2
    [line] = refused.err.splitlines()
    assert said in line


def test_a_second_sweep_in_the_folder(sweep_file, tmp_path):
    """Is refused, and touches nothing."""
    with locked(tmp_path / "out"):
        refused = call("sweep", sweep_file, f"--out={tmp_path / 'out'}")
    assert refused.status == 2
    assert "another sweep" in refused.err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["lock"]


def test_ctrl_c_lets_both_runs_save(sweep_file, tmp_path):
    """Each stops in the middle of an epoch, and the sweep says how to go on."""
    folder = tmp_path / "out"
    folder.mkdir()
    timed(make_plan(read_grids(sweep_file), folder))
    process = spawn("sweep", sweep_file, f"--out={folder}", "--workers=2", process_group=0)
    try:
        until(lambda: sum("epoch 1/3" in log.read_text() for log in folder.glob("logs/*")) == 2)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: all of the group
        stopped = wait(process)
    finally:
        process.kill()
    assert stopped.status == 128 + signal.SIGINT, stopped
    assert f"stopped; continue with: lifelong-co sweep --resume {folder}" in stopped.out
    for run in folder.glob("runs/*"):
        found = checkpoint.latest(run / "checkpoints")
        assert found is not None, run
        assert found[1]["batch"] > 0, "saved by the signal, not by the end of an epoch"


def until(happened: Callable[[], bool]) -> None:
    """Wait until something has happened."""
    end = time.monotonic() + 200
    while not happened():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def test_runs_as_jobs(tmp_path, monkeypatch, request):
    """Through submitit's local stand-in: the status comes back, a cancelled job is told to save."""
    pytest.importorskip("submitit")
    program = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('saved', flush=True), sys.exit(143)))\n"
        "print('begun', flush=True)\n"
        "time.sleep(60 if sys.argv[1] == 'long' else 0)\n"
        "sys.exit(int(sys.argv[1]))\n"
    )
    # As in a sweep, which listens to it: a shell's background jobs, and theirs, would ignore it.
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, previous))
    monkeypatch.setattr(cluster, "command", lambda it: [sys.executable, "-S", "-c", program, *it])
    engine = cluster.cluster_engine("submitit-local", tmp_path / "jobs", 3, {"timeout_min": 2})
    jobs = {name: engine.submit([name], tmp_path / f"{name}.log") for name in ("0", "3", "long")}
    log = tmp_path / "long.log"
    until(lambda: log.exists() and "begun" in log.read_text())
    assert jobs["long"].poll() is None

    jobs["long"].stop()
    until(lambda: all(job.poll() is not None for job in jobs.values()))
    assert [jobs[name].poll() for name in ("0", "3")] == [0, 3]
    assert jobs["long"].poll() != 0
    until(lambda: log.read_text().split() == ["begun", "saved"])
