"""`lifelong-co run --resume`: an interrupted run ends with the same bytes."""

import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import attrs
import pytest
from command_line import MODEL, REPLAY, call, contents, results, run_options, spawn, wait
from paths import PROGRAMS

from lifelong_co.config.brief import brief
from lifelong_co.config.run_config import Config, from_toml
from lifelong_co.errors import CheckpointError, Interrupted
from lifelong_co.learner import learn
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.prepare import prepare
from lifelong_co.storage import checkpoint
from lifelong_co.tasks.task import Task

KILLS = 10
# Long enough that nothing ends before a signal can reach it.
LONG_TASKS = """
epochs = 3
batches = 20
batch_size = 4
tasks = [{distribution = "U", size = 6}, {distribution = "E", size = 5}]
"""


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


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Carry out `config` from the start to the end."""
    folder = tmp_path_factory.mktemp("uninterrupted") / "run"
    learn(prepare(config(), folder))
    return folder


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


def test_truncated_checkpoint_is_replaced_by_the_one_before(uninterrupted, tmp_path):
    """One line of warning names the file; the run ends with the same bytes."""
    folder = tmp_path / "run"
    interrupt(folder, config(), 32)
    older, newest = checkpoint.checkpoints(folder / "checkpoints")
    newest.write_bytes(newest.read_bytes()[:-100])
    resumed = wait(spawn("run", "--resume", folder))
    assert resumed.status == 0, resumed.err
    [warning] = resumed.err.splitlines()
    assert warning.startswith(f"lifelong-co: warning: {newest}: truncated or altered, expected")
    assert warning.endswith(f"using {older.name}")
    assert f"continuing after step 30 from {older}" in resumed.out
    assert results(folder) == results(uninterrupted)


def test_run_with_only_damaged_checkpoints_is_refused(tmp_path):
    """The error is one line; no file is changed."""
    folder = tmp_path / "run"
    interrupt(folder, config(), 7)
    found = checkpoint.checkpoints(folder / "checkpoints")
    for path in found:
        path.write_bytes(b"nonsense")
    before = contents(folder)
    for command in (
        ["run", "--resume", folder],
        ["evaluate", folder],
    ):
        refused = call(*command)
        assert refused.status == 2
        [line] = refused.err.splitlines()
        assert line.startswith(f"lifelong-co: {folder / 'checkpoints'}: no checkpoint can be used")
        assert all(f"{path}: truncated or altered" in line for path in found)
    assert contents(folder) == before


def test_checkpoint_of_another_configuration_is_refused(tmp_path):
    """The error names the checkpoint."""
    folder = tmp_path / "run"
    interrupt(folder, config(), 4)
    file = folder / "config.toml"
    file.write_text(file.read_text().replace("embedding_dim = 16", "embedding_dim = 24"))
    for command in (["run", "--resume", folder], ["evaluate", folder]):
        refused = call(*command)
        assert refused.status == 2
        [line] = refused.err.splitlines()
        assert "checkpoint-00000004.safetensors: does not fit" in line
        assert str(file) in line


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


@pytest.mark.parametrize("steps", [4, 36])
def test_changed_setting_is_refused_by_name(steps, tmp_path):
    """Nothing is written; the run may be finished or not."""
    folder = tmp_path / "run"
    interrupt(folder, config(), steps)
    file = folder / "config.toml"
    text = file.read_text()
    for old, new, said in (
        ("seed = 3", "seed = 4", "seed: expected 3, got 4"),
        ("buffer_size = 8", "buffer_size = 9", "method_options.buffer_size: expected 8, got 9"),
        ("batches = 3", "batches = 4", "task 1 batches: expected 3, got 4"),
    ):
        file.write_text(text.replace(old, new, 1))
        before = contents(folder)
        refused = call("run", "--resume", folder)
        assert refused.status == 2
        [line] = refused.err.splitlines()
        assert line.startswith(f"lifelong-co: {folder / 'checkpoints'}")
        assert line.endswith(f"does not fit {file} ({said})")
        assert contents(folder) == before


@pytest.mark.parametrize("name", ["costs.csv", "log.jsonl", "metrics.json", "costs.csv.sha256"])
@pytest.mark.parametrize("damage", ["missing", "cut", "altered"])
def test_finished_run_is_repaired(name, damage, task_file, tmp_path):
    """The command that `compare` names writes the same bytes again."""
    folder = tmp_path / "run"
    first = call(*run_options(task_file, "fine-tuning", "cvrp"), "--out", folder)
    assert first.status == 0, first.err
    before = contents(folder)
    file = folder / name
    if damage == "missing":
        file.unlink()
    else:
        content = file.read_bytes()
        changed = content[:-2] if damage == "cut" else content[:20] + b"#" + content[21:]
        file.write_bytes(changed)
    if name == "costs.csv" or (name, damage) == ("costs.csv.sha256", "altered"):
        compared = call("compare", folder)
        assert compared.status == 2
        [line] = compared.err.splitlines()
        assert line.startswith(f"lifelong-co: {folder}")
        assert line.endswith(f"lifelong-co run --resume {folder}")
    with warnings.catch_warnings():
        warnings.simplefilter("always")  # as in the program; here a warning is an error
        repaired = call("run", "--resume", folder)
    assert repaired.status == 0, repaired.err
    said = "missing" if damage == "missing" else "truncated or altered"
    lines = repaired.err.splitlines()
    if name in ("costs.csv", "log.jsonl"):
        assert lines == [f"lifelong-co: warning: {file}: {said}; rebuilt from the checkpoints"]
    else:
        assert lines == []
    assert contents(folder) == before


def test_costs_that_lost_both_copies_are_refused(uninterrupted, tmp_path):
    """The error names the file; the parameters can still be used."""
    folder = tmp_path / "run"
    shutil.copytree(uninterrupted, folder)
    (folder / "costs.csv").unlink()
    part = folder / "checkpoints" / "after-task-2" / "costs.csv"
    part.write_text("nonsense")
    refused = call("run", "--resume", folder)
    assert refused.status == 2
    [line] = refused.err.splitlines()
    assert line.startswith(f"lifelong-co: {folder / 'costs.csv'}: missing, and cannot be rebuilt")
    assert call("evaluate", folder, "--task", "U:5", "--tests", "2").status == 0


def test_results_without_checkpoints_are_not_overwritten(uninterrupted, tmp_path):
    """A run that has lost its checkpoints does not start over."""
    folder = tmp_path / "run"
    shutil.copytree(uninterrupted, folder)
    shutil.rmtree(folder / "checkpoints")
    before = contents(folder)
    refused = call("run", "--resume", folder)
    assert refused.status == 2
    [line] = refused.err.splitlines()
    assert f"{folder / 'checkpoints'}: expected the checkpoint of the run that" in line
    assert contents(folder) == before


@pytest.mark.parametrize("steps", [4, 12, 17, 36])
def test_run_of_an_earlier_version_resumes_to_the_same_bytes(steps, uninterrupted, tmp_path):
    """Its checkpoint had all costs and the whole log, and its files had no checksums."""
    folder = tmp_path / "run"
    interrupt(folder, config(), steps)
    path, tree = checkpoint.latest(folder / "checkpoints")
    run = prepare(config(), folder, resume=True)
    del tree["journal"], tree["settings"]
    tree |= {"costs": [attrs.astuple(cost) for cost in run.costs], "log": run.history}
    checkpoint.save(folder / "checkpoints", checkpoint.step_of(path), tree)
    for pattern in (
        "*.sha256",
        "checkpoints/after-task-*/*.csv",
        "checkpoints/after-task-*/*.jsonl",
    ):
        for file in folder.glob(pattern):
            file.unlink()
    assert not list(folder.glob("checkpoints/after-task-*/costs.csv"))
    learn(prepare(config(), folder, resume=True))
    assert results(folder) == results(uninterrupted)


def test_run_without_checkpoint_starts_over(uninterrupted, tmp_path):
    """The run was killed before the first checkpoint."""
    folder = tmp_path / "run"
    folder.mkdir()
    shutil.copy(uninterrupted / "config.toml", folder)
    said: list[str] = []
    of = from_toml((folder / "config.toml").read_text())
    learn(prepare(of, folder, resume=True, log=said.append))
    assert said[0] == brief(config(), folder / "config.toml")  # the main settings first
    assert of == config()
    assert said[1] == "no checkpoint yet: starting from the beginning"
    assert results(folder) == results(uninterrupted)


def test_checkpoint_without_method_state_is_refused(uninterrupted, tmp_path):
    """The parameters kept after a task are not enough to resume."""
    folder = tmp_path / "run"
    shutil.copytree(uninterrupted, folder)
    for path in folder.glob("checkpoints/*.safetensors*"):
        path.unlink()
    for path in folder.glob("checkpoints/after-task-1/*"):
        shutil.copy(path, folder / "checkpoints")
    with pytest.raises(CheckpointError, match=r"checkpoint-00000012\.safetensors: does not fit"):
        learn(prepare(config(), folder, resume=True))


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
