"""`lifelong-co run --resume`: an interrupted run ends with the same bytes."""

import random
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import attrs
import pytest
from command_line import call, contents, results, run_options, spawn
from paths import PROGRAMS
from resumed_runs import config, interrupt

from lifelong_co.learner import learn
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.prepare import prepare

KILLS = 10
# Long enough that nothing ends before a signal can reach it.
LONG_TASKS = """
epochs = 3
batches = 20
batch_size = 4
tasks = [{distribution = "U", size = 6}, {distribution = "E", size = 5}]
"""


def test_run_killed_ten_times_ends_with_the_same_bytes(uninterrupted, tmp_path):
    """SIGKILL comes within epochs and within saves."""
    folder = tmp_path / "run"
    RunFolder(folder).create(config())
    draw = random.Random(1)
    # At most two epochs' worth at a time, so that the run does not end before the last kill.
    moments = ["learning:2"]  # before the first checkpoint
    while len(moments) < KILLS:
        kind, most = draw.choice((("learning", 6), ("saving", 36)))
        moments.append(f"{kind}:{draw.randint(1, most)}")
    program = PROGRAMS / "killed_runs.py"
    done = subprocess.run(
        [sys.executable, program, folder, *moments],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    lines = done.stdout.splitlines()
    ends = [line for line in lines if line.startswith("ended")]
    assert ends == [f"ended -{signal.SIGKILL.value}"] * KILLS + ["ended 0"], (
        done.stdout + done.stderr
    )
    # Else this shows less than it says.
    assert {"killed learning in task 1", "killed saving in task 1"} <= set(lines)
    assert any(line.startswith("killed") and line.endswith("task 2") for line in lines)
    scratch = lines.index("no checkpoint yet: starting from the beginning")
    assert scratch < lines.index(ends[0])
    assert results(folder) == results(uninterrupted)


def test_run_killed_before_any_write_ends_with_the_same_bytes(tmp_path):
    """SIGKILL comes before each flush and each renaming of a run of two tasks."""
    tasks = tuple(attrs.evolve(task, epochs=1, batches=1) for task in config().tasks[:2])
    short = attrs.evolve(config(), tasks=tasks, curve_every=1)
    learn(prepare(short, tmp_path / "whole"))
    RunFolder(tmp_path / "run").create(short)
    done = subprocess.run(
        [sys.executable, PROGRAMS / "killed_runs.py", tmp_path / "run", "every"],
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    ended = [line for line in done.stdout.splitlines() if line.startswith("ended")]
    assert len(ended) > 40
    assert set(ended) == {"ended 0"}, done.stdout + done.stderr
    assert "rebuilt" not in done.stderr
    for number in range(1, len(ended) + 1):
        assert results(tmp_path / f"run-{number}") == results(tmp_path / "whole"), number


@pytest.mark.parametrize("steps", [2, 12, 17, 36])
def test_stopped_run_resumes_to_the_same_bytes(steps, uninterrupted, tmp_path):
    """The run stops in an epoch, at the end of a task, in the next one, at the last step."""
    interrupt(tmp_path / "run", config(), steps)
    learn(prepare(config(), tmp_path / "run", resume=True))
    assert results(tmp_path / "run") == results(uninterrupted)


def without_peak(out: str) -> str:
    """Return the output without the peak of memory, which other tests change."""
    assert out.count("peak memory: ") == 1
    return re.sub(r"peak memory: \d+ MiB\n", "", out)


def test_resume_of_a_finished_run_changes_nothing(task_file, tmp_path):
    """Every file keeps its bytes; the metrics are shown again."""
    folder = tmp_path / "run"
    first = call(*run_options(task_file, "llr-bc", "cvrp"), "--out", folder)
    before = contents(folder)
    again = call("run", "--resume", folder)
    assert again.status == 0, again.err
    table = without_peak(first.out.partition("Metrics")[2])
    assert table
    assert without_peak(again.out).endswith(table)
    assert contents(folder) == before


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], Path]:
    """Return the options of a run of a few seconds, and where it was carried out."""
    root = tmp_path_factory.mktemp("long run")
    tasks = root / "tasks.toml"
    tasks.write_text(LONG_TASKS)
    options = run_options(tasks, "llr-bc", "cvrp")
    assert call(*options, "--out", root / "run").status == 0
    return options, root / "run"


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_signal_saves_and_stops_the_run(sent, long_run, tmp_path):
    """Ctrl-C and SIGTERM end the program in seconds; the command that it prints resumes."""
    options, uninterrupted = long_run
    process = spawn(*options, "--out", tmp_path / "my run")
    assert process.stdout is not None
    for line in process.stdout:
        if "U6 epoch 1/3" in line:
            break
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + sent
    assert err == "stopping after this step; a second Ctrl-C stops at once\n"
    last = out.splitlines()[-1]
    assert last.startswith("stopped; continue with: lifelong-co run --resume ")
    command = shlex.split(last.partition("continue with: ")[2])
    assert command == ["lifelong-co", "run", "--resume", str(tmp_path / "my run")]
    assert len((tmp_path / "my run" / "log.jsonl").read_text().splitlines()) < 6
    resumed = call(*command[1:])
    assert resumed.status == 0, resumed.err
    assert results(tmp_path / "my run") == results(uninterrupted)


def test_finished_run_gets_further_tasks_and_ends_as_if_it_had_them_before(long_run, tmp_path):
    """The command takes only ``--tasks`` beside ``--resume``; a second one resumes without."""
    options, whole = long_run
    folder, head, tail = (tmp_path / name for name in ("my run", "head.toml", "tail.toml"))
    budget, _, tasks = LONG_TASKS.partition("tasks = ")
    one, two = tasks.strip("[] \n").split("}, ")
    head.write_text(f"{budget}tasks = [{one}}}]")
    tail.write_text(f"{budget}tasks = [{two}]")
    first = [f"--tasks={head}" if option.startswith("--tasks") else option for option in options]
    assert call(*first, "--out", folder).status == 0
    refused = call("run", "--resume", folder, "--tasks", tail, "--seed=1")
    assert (refused.status, "leave out --seed" in refused.err) == (2, True)
    (wrong := tmp_path / "wrong.toml").write_text(f'{budget}tasks = [{{files = "none.npz"}}]')
    lost = call("run", "--resume", folder, "--tasks", wrong)
    assert (lost.status, f"(in {folder}/config.toml or {wrong})" in lost.err) == (2, True)
    before = contents(folder)
    tried = call("run", "--resume", folder, "--tasks", tail, "--dry-run")
    assert tried.status == 0, tried.err
    assert tomllib.loads(tried.out)["tasks"][-1]["distribution"] == "E"
    assert "60 steps of" in tried.err
    assert "expected --tasks FILE" in call("run", "--resume", folder, "--dry-run").err
    assert contents(folder) == before
    process = spawn("run", "--resume", folder, "--tasks", tail)
    assert process.stdout is not None
    for line in process.stdout:
        if "E5 epoch 1/3" in line:
            break
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    again = call("run", "--resume", folder, "--tasks", tail)
    assert again.status == 2
    assert "got its last ones again (E5); resume it without them" in again.err
    done = call("run", "--resume", folder)
    assert done.status == 0, done.err
    made, wanted = results(folder), results(whole)
    rows = made.pop("costs.csv"), wanted.pop("costs.csv")  # a test of earlier parameters is later
    assert sorted(rows[0].splitlines()) == sorted(rows[1].splitlines())
    assert made["metrics.json"] == wanted["metrics.json"]
    last = "checkpoints/after-task-2/checkpoint-00000120.safetensors"
    assert made[last] == wanted[last]
