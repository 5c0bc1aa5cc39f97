"""Solvers tested without learning."""

import attrs
import imported_starts
import pytest
import torch
from tiny_runs import tiny_config

from lifelong_co.errors import CheckpointError
from lifelong_co.evaluation import best_costs
from lifelong_co.experiments.paper.zero_shot import read_start
from lifelong_co.runs.folder import RunFolder
from lifelong_co.tasks import instances as streams


def test_start_solves_the_tests_of_a_run(tmp_path):
    """With the imported parameters, and with the symmetric images if the start says so."""
    folder = tmp_path / "start"
    solver = imported_starts.write(folder)
    start = read_start(folder)
    run = tiny_config(sizes=(5, 7))
    costs = start.costs(run, "cpu")
    assert list(costs) == ["U5", "U7"]
    (group,) = streams.testing(run.tasks[1], solver.problem, 3)
    assert torch.equal(costs["U7"], best_costs(solver, group))
    assert start.title == "pomo zero-shot"
    images = attrs.evolve(start, config=attrs.evolve(start.config, augment=True))
    assert images.title == "pomo zero-shot, 8 images"
    assert torch.equal(images.costs(run, "cpu")["U7"], best_costs(solver, group, augment=True))


def test_run_and_empty_folder_are_no_starts(tmp_path):
    """They have no row without learning."""
    assert read_start(tmp_path) is None
    RunFolder(tmp_path / "run").create(tiny_config())
    assert read_start(tmp_path / "run") is None


def test_start_without_checkpoint_is_refused(tmp_path):
    """The error names the folder."""
    RunFolder(tmp_path / "start").create(tiny_config("import-checkpoint"))
    start = read_start(tmp_path / "start")
    with pytest.raises(CheckpointError, match="expected a checkpoint, found none"):
        start.costs(tiny_config(), "cpu")
