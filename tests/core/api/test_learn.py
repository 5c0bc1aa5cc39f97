"""`lco.learn` and `lco.resume` do what `lifelong-co run` does."""

import csv
import re

import attrs
import pytest
from command_line import call, results
from tiny_runs import MODEL

import lifelong_co as lco
from lifelong_co.api.learn import of_program
from lifelong_co.config.run_config import from_toml
from lifelong_co.storage import checkpoint

TASK = lco.Task(distribution="U", size=5, epochs=2, batches=2, batch_size=4)


def test_folder_has_the_bytes_of_the_command(tmp_path):
    """The same task file gives the same costs, metrics and parameters, and a report."""
    file = tmp_path / "tasks.toml"
    file.write_text(
        'epochs = 2\nbatches = 2\nbatch_size = 4\ntasks = [{distribution = "U", size = 5}]\n'
    )
    options = [f"--solver-option={name}={value}" for name, value in MODEL.items()]
    command = ("run", "--tasks", file, "--tests=3", "--device=cpu", *options)
    assert call(*command, "--out", tmp_path / "command").status == 0
    run = lco.learn(
        tasks=file,
        tests=3,
        device="cpu",
        out=tmp_path / "function",
        solver_options=MODEL,
        progress=False,
    )
    assert results(run.folder) == results(tmp_path / "command")
    assert (run.folder / "report.html").is_file()


def test_progress_is_one_line_for_each_epoch(tmp_path, capsys):
    """In a notebook the output is no terminal; the main settings come first."""
    lco.learn(
        tasks=[TASK], tests=3, device="cpu", out=tmp_path / "run", solver_options=MODEL, seed=3
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("llr-bc on cvrp with pomo, preset small, seed 3")
    assert sum("U5 epoch" in line and "%]" in line for line in lines) == 2


def test_silent_run_prints_nothing(tiny, capsys):
    """With ``progress=False``; a finished run can be resumed, and nothing changes."""
    before = results(tiny.folder)
    assert lco.resume(tiny, progress=False) == tiny
    assert capsys.readouterr().out == ""
    assert results(tiny.folder) == before


@pytest.mark.parametrize("as_file", [False, True])
def test_finished_run_gets_further_tasks(as_file, tmp_path):
    """From a program or from a file; ``Config.order`` says where the last ones come from."""
    few = {"tests": 3, "device": "cpu", "solver_options": MODEL, "progress": False}
    more = attrs.evolve(TASK, size=6)
    whole = lco.learn(tasks=[TASK, more], out=tmp_path / "whole", **few)
    run = lco.learn(tasks=[TASK], out=tmp_path / "run", **few)
    file = tmp_path / "more.toml"
    file.write_text('epochs=2\nbatches=2\nbatch_size=4\ntasks=[{distribution="U", size=6}]')
    assert lco.resume(run, tasks=file if as_file else [more], progress=False) == run
    assert run.costs == whole.costs
    assert run.config.order == (str(file) if as_file else whole.config.order)


def test_further_tasks_with_one_label_get_numbers_once(tmp_path):
    """As in a run that had all from the beginning; and the same call again is refused."""
    few = {"tests": 3, "device": "cpu", "solver_options": MODEL, "progress": False}
    run = lco.learn(tasks=[TASK], out=tmp_path / "run", **few)
    named = attrs.evolve(TASK, name="U5", epochs=1)
    for again in ([TASK, TASK], [named]):
        lco.resume(run, tasks=again, progress=False)
        with pytest.raises(lco.ConfigError, match=r"got its last ones again \(U5 \("):
            lco.resume(run, tasks=again, progress=False)
    assert [task.label for task in run.tasks] == ["U5", "U5 (2)", "U5 (3)", "U5 (4)"]
    with pytest.raises(lco.ConfigError, match=r"got its last ones again \(U5 \(4"):
        lco.resume(run, tasks=[attrs.evolve(named, name="")], progress=False)


def test_resumed_logger_has_no_row_twice(tiny):
    """The table is written again from the journal, without rows of a killed part."""
    table = tiny.folder / "metrics.csv"
    before = table.read_text()
    table.write_text(before + "2,2,loss,policy,1.0\n")
    lco.resume(tiny, progress=False)
    assert table.read_text() == before
    rows = [tuple(row[:4]) for row in csv.reader(before.splitlines())]
    assert len(rows) == len(set(rows)) > 12


def test_loggers_change_no_result(tiny, tmp_path):
    """A run without a logger has the same costs, and its file does not mention loggers."""
    run = lco.learn(
        problem="tsp",
        tasks=tiny.tasks,
        tests=3,
        device="cpu",
        out=tmp_path / "run",
        solver_options=MODEL,
        progress=False,
    )
    assert run.costs == tiny.costs
    text = (run.folder / "config.toml").read_text()
    assert "loggers" not in text
    assert from_toml((tiny.folder / "config.toml").read_text()).loggers == ("csv",)


def test_paths_of_tasks_are_absolute(tmp_path, monkeypatch):
    """A run that is resumed elsewhere learns the same instances."""
    monkeypatch.chdir(tmp_path)
    task = lco.Task(files="may.npz", test_files="june.npz", epochs=1, batches=1, batch_size=2)
    (found,) = of_program((task for _ in range(1)), {})
    assert found.files == str(tmp_path / "may.npz")
    assert found.test_files == str(tmp_path / "june.npz")
    assert found.label == "may"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tasks": []}, "at least one task"),
        ({"tasks": ["U5"]}, "expected lifelong_co.Task objects, got 'U5'"),
        ({"tasks": TASK}, "expected a list of lifelong_co.Task objects, got Task("),
        ({"tasks": [TASK], "objective_options": 3}, "objective_options: expected a table"),
        ({"tasks": [TASK], "method_options": [1]}, "method_options: expected a table of options"),
        ({"tasks": [TASK], "solver_options": "a"}, "solver_options: expected a table of options"),
        ({"preset": None}, "Unknown preset 'None'"),
        ({"tasks": [TASK], "order": 1}, "expected an order or tasks, got both"),
        ({"device": "tpu"}, "device: expected auto, cpu"),
        ({"tasks": [TASK], "loggers": ["cvs"]}, "Did you mean 'csv'?"),
        ({"tasks": [TASK], "loggers": "csv"}, "expected a list of registered names, got 'csv'"),
        ({"learning": 1}, "Unknown setting 'learning'"),
    ],
)
def test_wrong_argument_is_refused(given, said, tmp_path):
    """Before anything is written."""
    with pytest.raises(lco.LifelongError, match=re.escape(said)):
        lco.learn(**{"out": tmp_path / "run", "device": "cpu", "progress": False, **given})
    assert not (tmp_path / "run").exists()


def test_new_run_never_goes_to_a_folder_in_use(tiny):
    """The error names the folder."""
    with pytest.raises(lco.ConfigError, match="a new or empty folder"):
        lco.learn(tasks=[TASK], out=tiny.folder, device="cpu")
    assert checkpoint.latest(tiny.folder / "checkpoints") is not None
