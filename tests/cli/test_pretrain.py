"""`lifelong-co pretrain` and `import-checkpoint`: folders to start other runs from."""

import json
import shlex
import shutil
import signal
from pathlib import Path

import pytest
import torch
from command_line import MODEL, call, contents, spawn, wait
from goldens import FIXTURES, golden

from lifelong_co.runs.folder import RunFolder
from lifelong_co.storage import checkpoint

FAMILY = """
epochs = 1
batches = 2
batch_size = 4
tasks = [{distribution = "U", size = 5}, {distribution = "E", size = 6}]
"""


def options(family: Path, *more: object) -> list[str]:
    """Return the arguments of a pretraining that takes seconds."""
    model = [f"--solver-option={name}={value}" for name, value in MODEL.items()]
    settings = ["--iterations=6", "--validate-every=3", "--tests=4", "--device=cpu"]
    return ["pretrain", "--solver=omni", f"--tasks={family}", *model, *settings, *map(str, more)]


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a family of two tasks."""
    path = tmp_path_factory.mktemp("family") / "family.toml"
    path.write_text(FAMILY)
    return path


@pytest.fixture(scope="module")
def pretrained(family, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Meta-train once, in a new process; tests only read the folder."""
    folder = tmp_path_factory.mktemp("pretrained") / "my start"
    done = wait(spawn(*options(family, "--algorithm=reptile", "--out", folder)))
    assert done.status == 0, done.err
    assert "iteration 6/6: cost, adapted: U5 " in done.out
    assert done.out.splitlines()[-1] == f"pretrained: {folder}"
    return folder


def parameters(folder: Path) -> dict[str, bytes]:
    """Return the parameters in the last checkpoint, as bytes."""
    found = checkpoint.latest(folder / "checkpoints")
    assert found is not None
    return {name: value.numpy().tobytes() for name, value in found[1]["parameters"].items()}


def test_pretrained_folder_works_with_other_commands(pretrained, tmp_path, monkeypatch):
    """`evaluate` tests the family, `solve` solves, and a run starts with the parameters."""
    monkeypatch.chdir(tmp_path)
    log = [json.loads(line) for line in (pretrained / "log.jsonl").read_text().splitlines()]
    tested = call("evaluate", pretrained, "--json")
    assert tested.status == 0, tested.err
    assert json.loads(tested.out) == log[-1]["costs"]
    solved = call("solve", FIXTURES / "four.vrp", "--checkpoint", pretrained)
    assert solved.status == 0, solved.err
    assert (tmp_path / "four.sol").is_file()


def test_run_starts_from_a_pretrained_folder(pretrained, family, tmp_path):
    """`run --start-from` takes solver, problem and parameters from the folder."""
    arguments = ("--start-from", pretrained, f"--tasks={family}", "--method=fine-tuning")
    done = call("run", *arguments, "--tests=4", "--device=cpu", "--out", tmp_path / "run")
    assert done.status == 0, done.err
    config = RunFolder(tmp_path / "run").config()
    assert (config.solver, config.start_from) == ("omni", str(pretrained))


def test_pretrained_folder_is_refused_as_a_run(pretrained):
    """`run --resume` and `compare` refuse it in one line and change no file."""
    before = contents(pretrained)
    for arguments in (("run", "--resume", pretrained), ("compare", pretrained)):
        refused = call(*arguments)
        assert refused.status == 2
        [line] = refused.err.splitlines()
        assert f"{pretrained}: expected a lifelong run, got pretrained parameters" in line
        assert "--start-from" in line
    assert contents(pretrained) == before


def test_pretrained_folder_is_not_overwritten(pretrained, family):
    """The error shows the command that resumes the pretraining."""
    refused = call(*options(family), "--out", pretrained)
    assert refused.status == 2
    command = f"lifelong-co pretrain --resume {shlex.quote(str(pretrained))}"
    assert refused.err.endswith(f"choose another --out, or go on pretraining with: {command}\n")


def test_interrupted_pretraining_resumes_to_the_same_bytes(family, tmp_path):
    """Ctrl-C ends the program; the command that it prints resumes."""
    long = options(family, "--iterations=60", "--validate-every=40")
    folder = tmp_path / "my start"
    process = spawn(*long, "--out", folder)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("iteration 0/60"):
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGINT, err
    last = out.splitlines()[-1]
    command = shlex.split(last.partition("continue with: ")[2])
    assert command == ["lifelong-co", "pretrain", "--resume", str(folder)]
    found = checkpoint.latest(folder / "checkpoints")
    assert found is not None
    assert 0 < found[1]["iteration"] < 60
    resumed = call(*command[1:])
    assert resumed.status == 0, resumed.err
    assert call(*long, "--out", tmp_path / "whole").status == 0
    assert parameters(folder) == parameters(tmp_path / "whole")


def test_resume_of_pretrain_refuses_other_options(pretrained):
    """The stored configuration decides."""
    refused = call("pretrain", "--resume", pretrained, "--iterations=9")
    assert refused.status == 2
    assert "leave out --iterations" in refused.err


def test_unknown_stored_option_is_refused_with_its_file(pretrained, tmp_path):
    """The error names the configuration that holds the option."""
    folder = tmp_path / "start"
    shutil.copytree(pretrained, folder)
    file = folder / "config.toml"
    file.write_text(file.read_text().replace("ff_hidden_dim", "ff_width"))
    refused = call("pretrain", "--resume", folder)
    assert refused.status == 2
    [line] = refused.err.splitlines()
    assert "Unknown option 'ff_width'" in line
    assert line.endswith(f"(in {file})")


def test_resume_of_a_finished_pretraining_changes_nothing(pretrained):
    """Every file keeps its bytes."""
    before = contents(pretrained)
    assert call("pretrain", "--resume", pretrained).status == 0
    assert contents(pretrained) == before


def test_official_checkpoint_is_imported(tmp_path):
    """The command prints the content of the file; `evaluate` works, `compare` refuses."""
    stored = golden("cvrp", "omni", "rezero")
    file = tmp_path / "best_checkpoint.pt"
    torch.save({"epoch": 9, "model_state_dict": stored.weights, "result_log": None}, file)
    given = [f"--solver-option={name}={value}" for name, value in stored.options.items()]
    folder = tmp_path / "imported"
    done = call("import-checkpoint", file, "--solver=omni", *given, "--out", folder)
    assert done.status == 0, done.err
    count = sum(value.numel() for value in stored.weights.values())
    assert done.out == (
        f"imported `model_state_dict` ({len(stored.weights)} tensors, {count:,} values): {folder}\n"
    )
    tested = call("evaluate", folder, "--task=U:6", "--tests=3", "--device=cpu", "--json")
    assert tested.status == 0, tested.err
    assert json.loads(tested.out).keys() == {"U6"}
    refused = call("compare", folder)
    assert "expected a lifelong run, got imported parameters" in refused.err


def test_import_of_a_missing_file_is_refused(tmp_path):
    """The error names the file; nothing is written."""
    refused = call(
        "import-checkpoint", tmp_path / "no.pt", "--solver=pomo", "--out", tmp_path / "out"
    )
    assert refused.status == 2
    assert refused.err == (
        f"lifelong-co: {tmp_path / 'no.pt'}: cannot be read (No such file or directory)\n"
    )
    assert not (tmp_path / "out").exists()
