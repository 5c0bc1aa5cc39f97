"""`lco.load`: a run folder as an object."""

import json
import shutil

import attrs
import pytest
from paths import FIXTURES

import lifelong_co as lco
from lifelong_co.config.run_config import to_toml


def test_loaded_run_has_costs_and_metrics_of_its_files(tiny):
    """`metrics.json` has the same numbers."""
    run = lco.load(str(tiny.folder))
    stored = json.loads((tiny.folder / "metrics.json").read_text())
    assert run == tiny == lco.StoredRun(str(tiny.folder))
    assert (run.costs, run.metrics) == (stored["costs"], stored["metrics"])
    assert [task.label for task in run.tasks] == stored["tasks"]
    assert run.learned == 2


def test_solver_is_that_after_the_wanted_task(tiny):
    """By default it is the last one; it is in evaluation mode."""
    first, last, default = (tiny.solver(after, "cpu").module for after in (1, 2, None))
    names = last.state_dict()
    assert all((default.state_dict()[name] == names[name]).all() for name in names)
    assert any((first.state_dict()[name] != names[name]).any() for name in names)
    assert not default.training


def test_folder_without_a_run_is_refused(tmp_path):
    """The error names the folder."""
    with pytest.raises(lco.ConfigError, match="expected a run folder"):
        lco.load(tmp_path)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda tasks: tasks[::-1], "task 1 is .* in config.toml, got"),
        (lambda tasks: tasks[:1], "expected tasks from 1 to 1, got learning"),
    ],
)
def test_costs_of_other_tasks_are_refused(tiny, tmp_path, edit, message):
    """Whoever edits the tasks of a configuration does not get costs under the wrong names."""
    folder = shutil.copytree(tiny.folder, tmp_path / "run")
    config = tiny.config
    (folder / "config.toml").write_text(to_toml(attrs.evolve(config, tasks=edit(config.tasks))))
    run = lco.load(folder)
    for read in (lambda: run.costs, lambda: run.metrics):
        with pytest.raises(lco.FileFormatError, match=message):
            read()


@pytest.mark.parametrize(
    "call",
    [
        lco.load,
        lco.evaluate,
        lambda run: lco.compare([run]),
        lambda run: lco.solve(FIXTURES / "four.vrp", run),
    ],
)
def test_what_is_no_run_is_refused(call):
    """Every function says what it expected."""
    with pytest.raises(lco.ConfigError, match="run: expected a run or its folder, got None"):
        call(None)
