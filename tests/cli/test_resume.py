"""`lifelong-co run --resume`: however a run was interrupted, it ends with the same bytes."""

import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import MODEL, REPLAY, call, contents, results, run_options, spawn, wait
from paths import PROGRAMS

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


def test_killed_at_ten_random_moments(uninterrupted, tmp_path):
    """SIGKILL in the middle of epochs and of saves, ten times, leaves no trace in the results."""
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


@pytest.mark.parametrize("steps", [2, 12, 17, 36])
def test_stopped_and_resumed(steps, uninterrupted, tmp_path):
    """Stopped in an epoch, at the end of a task, in the next and after the last step: the same."""
    interrupt(tmp_path / "run", config(), steps)
    learn(prepare(config(), tmp_path / "run", resume=True))
    assert results(tmp_path / "run") == results(uninterrupted)


def test_a_truncated_checkpoint_gives_way_to_the_one_before(uninterrupted, tmp_path):
    """The damaged file is named in one line of warning, and the run still ends the same."""
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


def test_no_checkpoint_that_can_be_used(tmp_path):
    """Where all are damaged the run is refused in one line and left as it is."""
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


def test_a_configuration_of_another_run(tmp_path):
    """A checkpoint that does not fit the configuration beside it is refused by name."""
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
    """Return what was printed but for the peak of memory, which is this process's, of all tests."""
    assert out.count("peak memory: ") == 1
    return re.sub(r"peak memory: \d+ MiB\n", "", out)


def test_resuming_a_finished_run_changes_nothing(task_file, tmp_path):
    """Every file stays as it was, to the byte, and the metrics are shown again."""
    folder = tmp_path / "run"
    first = call(*run_options(task_file, "llr-bc", "cvrp"), "--out", folder)
    before = contents(folder)
    again = call("run", "--resume", folder)
    assert again.status == 0, again.err
    table = without_peak(first.out.partition("Metrics")[2])
    assert table
    assert without_peak(again.out).endswith(table)
    assert contents(folder) == before


def test_a_configuration_alone_is_enough(uninterrupted, tmp_path):
    """A run killed before its first checkpoint starts over."""
    folder = tmp_path / "run"
    folder.mkdir()
    shutil.copy(uninterrupted / "config.toml", folder)
    said: list[str] = []
    of = from_toml((folder / "config.toml").read_text())
    learn(prepare(of, folder, resume=True, log=said.append))
    assert from_toml(said[0]) == config()  # the configuration first
    assert said[1] == "no checkpoint yet: starting from the beginning"
    assert results(folder) == results(uninterrupted)


def test_a_checkpoint_folder_without_method_state_is_refused(uninterrupted, tmp_path):
    """The parameters kept after a task are no checkpoint to resume from."""
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
def test_signals_save_and_stop(sent, long_run, tmp_path):
    """Ctrl-C and SIGTERM end the program within seconds; the command it prints goes on."""
    options, uninterrupted = long_run
    process = spawn(*options, "--out", tmp_path / "my run")
    assert process.stdout is not None
    for line in process.stdout:
        if "U6 epoch 1/3" in line:
            break
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + sent
    assert err == "stopping after this step; once more stops at once\n"
    last = out.splitlines()[-1]
    assert last.startswith("stopped; continue with: lifelong-co run --resume ")
    command = shlex.split(last.partition("continue with: ")[2])
    assert command == ["lifelong-co", "run", "--resume", str(tmp_path / "my run")]
    assert len((tmp_path / "my run" / "log.jsonl").read_text().splitlines()) < 6
    resumed = call(*command[1:])
    assert resumed.status == 0, resumed.err
    assert results(tmp_path / "my run") == results(uninterrupted)
