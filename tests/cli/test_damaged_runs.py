"""`lifelong-co run --resume` of a damaged or changed folder: it is repaired, or refused clearly."""

import shutil
import warnings

import attrs
import pytest
from command_line import call, contents, results, run_options, spawn, wait
from resumed_runs import config, interrupt

from lifelong_co.config.brief import brief
from lifelong_co.config.run_config import from_toml
from lifelong_co.errors import CheckpointError
from lifelong_co.learner import learn
from lifelong_co.runs.folder import with_all_options
from lifelong_co.runs.prepare import prepare
from lifelong_co.storage import checkpoint


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


def test_run_without_checkpoint_starts_over(uninterrupted, tmp_path):
    """The run was killed before the first checkpoint."""
    folder = tmp_path / "run"
    folder.mkdir()
    shutil.copy(uninterrupted / "config.toml", folder)
    said: list[str] = []
    of = from_toml((folder / "config.toml").read_text())
    learn(prepare(of, folder, resume=True, log=said.append))
    known = attrs.evolve(config(), solver_options=of.solver_options)
    assert said[0] == brief(known, folder / "config.toml")  # the main settings first
    assert of == with_all_options(config())
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
