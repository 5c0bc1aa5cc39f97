"""`lifelong-co sweep`, with processes of this machine and with submitit."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import MODEL, call, spawn, wait
from lifelong_co_cli.sweep_grid import asked
from synthetic_runs import finish

from lifelong_co.experiments.sweep import cluster
from lifelong_co.experiments.sweep.conduct import locked
from lifelong_co.experiments.sweep.execution import Execution, read_execution
from lifelong_co.experiments.sweep.grid import read_grids
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


def test_dry_run_says_how_many_runs_there_are(sweep_file, tmp_path):
    """Every run is listed; nothing is written, and without a finished run no time is estimated."""
    folder = tmp_path / "out"
    done = call("sweep", sweep_file, "--dry-run", "--workers=2", f"--out={folder}")
    assert done.status == 0, done.err
    name = "cvrp-pomo-fine-tuning-small-tasks-seed"
    assert done.out.splitlines() == [
        f"2 runs, 0 of them finished, in {folder}",
        *(f"  {name}{seed}: to do" for seed in (0, 1)),
    ]
    assert not folder.exists()


def test_dry_run_estimates_from_finished_runs(sweep_file, tmp_path):
    """Six epochs of two seconds are finished, so the other run takes as long."""
    folder = tmp_path / "out"
    first, second = make_plan(read_grids(sweep_file), folder).jobs.values()
    first.prepare()
    finish(first.folder)
    done = call("sweep", sweep_file, "--dry-run", "--workers=2", f"--out={folder}")
    assert done.out.splitlines() == [
        f"2 runs, 1 of them finished, in {folder}",
        f"  {first.name}: finished",
        f"  {second.name}: to do, about 12 s",
        "estimate: 12 s of training, 2 at once in about 12 s, from the mean of the finished runs;"
        " tests, reports and starts take more",
    ]


def test_dry_run_counts_on_the_slots_of_the_engine(sweep_file, tmp_path):
    """All jobs can be in the queue of submitit at once, however few cores this machine has."""
    pytest.importorskip("submitit")
    sweep_file.write_text(sweep_file.read_text().replace('"0-1"', '"0-9"'))
    folder = tmp_path / "out"
    first = next(iter(make_plan(read_grids(sweep_file), folder).jobs.values()))
    first.prepare()
    finish(first.folder)
    done = call("sweep", sweep_file, "--engine=submitit-local", "--dry-run", f"--out={folder}")
    assert "10 at once in about 12 s" in done.out, done


@pytest.mark.parametrize("device", ["auto", "cuda:1"])
def test_device_of_nodes_is_not_guessed_from_this_machine(device, sweep_file, tmp_path):
    """A login node without a GPU says nothing about the nodes."""
    words = (sweep_file, "--engine=slurm", f"--device={device}", f"--out={tmp_path / 'out'}")
    done = call("sweep", *words)
    assert done.status == 2
    assert "--device: expected cpu or cuda with --engine slurm" in done.err
    assert not (tmp_path / "out").exists()


def test_gpus_of_nodes_need_not_be_here(sweep_file):
    """The sweep runs on the device that is named; this machine need not have it."""
    for device in ("cpu", "cuda"):
        _, (grid,) = asked(sweep_file, None, None, {}, device, "slurm")
        assert grid.device == device


def test_refused_sweep_changes_no_file(sweep_file, tmp_path):
    """The grids in the folder stay; `--dry-run` refuses it, too."""
    folder = tmp_path / "out"
    [first, _] = make_plan(read_grids(sweep_file), folder).jobs.values()
    first.prepare()
    (folder / "sweep.toml").write_text("the old grids")
    other = tmp_path / "other.toml"
    other.write_text(sweep_file.read_text().replace("tests = ", "tests = 1"))
    for more in ((), ("--dry-run",)):
        done = call("sweep", other, f"--out={folder}", *more)
        assert done.status == 2
        assert "this sweep needs tests = " in done.err
        assert (folder / "sweep.toml").read_text() == "the old grids"


def test_options_can_be_axes(tmp_path):
    """Each combination is a run; fine-tuning has no weighting, so it is one run."""
    axes = ["--weightings=variance,entropy", "--divergences=kl", "--objectives=best-of"]
    words = ["--methods=llr-bc,fine-tuning", *axes, "--axis=alpha=1,2.5", "--preset=demo"]
    done = call("sweep", *words, "--device=cpu", "--dry-run", f"--out={tmp_path / 'out'}")
    assert done.status == 0, done.err
    rows = [
        f"llr-bc_weighting={each}_divergence=kl_objective=best-of_alpha={alpha}"
        for each in ("variance", "entropy")
        for alpha in (1, 2.5)
    ]
    assert done.out.splitlines() == [
        f"5 runs, 0 of them finished, in {tmp_path / 'out'}",
        *(f"  cvrp-pomo-{row}-demo-own-seed0: to do" for row in rows),
        "  cvrp-pomo-fine-tuning_objective=best-of-demo-own-seed0: to do",
    ]


def test_resumed_sweep_has_the_workers_of_before(sweep_file, tmp_path):
    """And those that are given instead."""
    folder = tmp_path / "out"
    for job in make_plan(read_grids(sweep_file), folder).jobs.values():
        job.prepare()
        finish(job.folder)
    assert call("sweep", sweep_file, "--workers=5", "--retries=1", f"--out={folder}").status == 0
    assert read_execution(folder) == Execution(workers=5, retries=1)
    next(folder.glob("runs/*/report.html")).unlink()
    shown = call("sweep", f"--resume={folder}", "--dry-run").out
    assert "5 at once" in shown
    shown = call("sweep", f"--resume={folder}", "--dry-run", "--workers=2").out
    assert "2 at once" in shown


@pytest.mark.parametrize(
    ("seeds", "said"), [("0-1", "figures"), ("0-2", "figures, and tests paired by seed")]
)
def test_finished_sweep_says_how_to_get_figures_and_tests(seeds, said, sweep_file, tmp_path):
    """Tests need three seeds."""
    sweep_file.write_text(sweep_file.read_text().replace('"0-1"', f'"{seeds}"'))
    folder = tmp_path / "the runs"
    for job in make_plan(read_grids(sweep_file), folder).jobs.values():
        job.prepare()
        finish(job.folder)
    done = call("sweep", sweep_file, f"--out={folder}")
    assert done.out.splitlines()[-1] == f"{said}: lifelong-co report '{folder}'", done


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "expected FILE, --resume DIR or options of a grid, got none"),
        (["x.toml", "--weightings=entropy"], "got both FILE and options of a grid"),
        (["--methods=ewc", "--divergences=kl"], "Unknown option of ewc 'divergence'"),
        (["--methods=llr-bc", "--axis=alpha"], "--axis: expected NAME=VALUE,…, got 'alpha'"),
        (
            ["--methods=llr-bc", "--weightings=entropy", "--axis=weighting=variance"],
            "weighting: expected one list of values, got two",
        ),
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
def test_wrong_sweep_is_refused(options, said):
    """The error is one line with status 2."""
    refused = call("sweep", *options)
    assert refused.status == 2
    [line] = refused.err.splitlines()
    assert said in line


def test_second_sweep_in_the_same_folder_is_refused(sweep_file, tmp_path):
    """No file is changed."""
    with locked(tmp_path / "out"):
        refused = call("sweep", sweep_file, f"--out={tmp_path / 'out'}")
    assert refused.status == 2
    assert "another sweep" in refused.err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["lock"]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_all_processes_saves_both_runs(sent, sweep_file, tmp_path):
    """A terminal sends Ctrl-C to the sweep and its runs, a scheduler SIGTERM; both stop soon."""
    folder = tmp_path / "out"
    folder.mkdir()
    process = spawn("sweep", sweep_file, f"--out={folder}", "--workers=2", process_group=0)
    try:
        until(lambda: sum("epoch 1/3" in log.read_text() for log in folder.glob("logs/*")) == 2)
        os.killpg(process.pid, sent)
        stopped = wait(process)
    finally:
        process.kill()
    assert stopped.status == 128 + sent, stopped
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


def test_signal_before_a_job_has_its_run_stops_the_run(tmp_path):
    """Else the job ends and leaves the run behind."""
    program = (
        "import os, signal, subprocess, sys\n"
        "from lifelong_co.experiments.sweep import cluster\n"
        "start = subprocess.Popen\n"
        "def interrupted(*given, **options):\n"
        "    process = start(*given, **options)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    return process\n"
        "subprocess.Popen = interrupted\n"
        "print(cluster.run_command(['sleep', '60'], sys.argv[1]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "log"],
        capture_output=True, text=True, check=False, timeout=50,
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()) == (0, [str(-signal.SIGTERM)]), done.stderr


def test_runs_as_jobs_of_submitit(tmp_path, monkeypatch, request):
    """The local executor of submitit returns the status; a cancelled job saves."""
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
