"""`lco.load`: a run folder as an object."""

import json

import pytest

import lifelong_co as lco


def test_loaded_run_has_costs_and_metrics_of_its_files(tiny):
    """`metrics.json` has the same numbers."""
    run = lco.load(str(tiny.folder))
    stored = json.loads((tiny.folder / "metrics.json").read_text())
    assert run == tiny
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
