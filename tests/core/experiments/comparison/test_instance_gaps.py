"""Gaps of runs: of the mean costs, and as published over the instances."""

import shutil

import attrs
import pytest
import torch
from synthetic_references import lay
from tiny_runs import tiny_config, tiny_learn

from lifelong_co.evaluation import best_costs
from lifelong_co.experiments.comparison.instance_gaps import gaps_of_runs, instance_gaps, mean_ratio
from lifelong_co.experiments.comparison.runs import load_run
from lifelong_co.experiments.references.gaps import mean_references
from lifelong_co.experiments.references.places import Places
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.tasks import instances as streams

REFERENCES = [0.5, 1.0, 2.0]


def changed(run, folder, factor):
    """Return a copy of a run with another stored cost of the first task."""
    copy = shutil.copytree(run.path, folder)
    stored = run.final["U5"]
    text = (copy / "costs.csv").read_text(encoding="utf-8")
    (copy / "costs.csv").write_text(text.replace(repr(stored), repr(stored * factor)))
    (copy / "costs.csv.sha256").unlink()
    return load_run(copy)


@pytest.fixture(scope="module", params=["fine-tuning", "restart"])
def run(request, tmp_path_factory):
    """Learn two tasks."""
    folder = tmp_path_factory.mktemp("gaps")
    return load_run(tiny_learn(tiny_config(request.param), folder).folder.path)


@pytest.fixture
def references(run, tmp_path):
    """Lay references of the first task's instances."""
    lay(tmp_path, run.config.tasks[0], 3, REFERENCES, problem="tsp")
    return mean_references(run.config, Places(tmp_path))


def test_published_gap_is_the_mean_of_the_instances_gaps(run, references):
    """The solver is that after the last task; with `restart`, that after the task itself."""
    lines = []
    found = instance_gaps([run], references, "cpu", lines.append)
    solver = load_solver(run.path, after=1 if run.restarts else 2)
    (group,) = streams.testing(run.config.tasks[0], solver.problem, 3)
    costs = best_costs(solver, group).double()
    by_hand = sum(c / r - 1 for c, r in zip(costs.tolist(), REFERENCES, strict=True)) / 3
    assert found == {run.path: {"U5": pytest.approx(by_hand)}}
    assert gaps_of_runs([run], references.means, found) == found[run.path]
    means = gaps_of_runs([run], references.means)
    assert means["U5"] == pytest.approx(float(costs.mean()) / (3.5 / 3) - 1)
    assert abs(means["U5"] - by_hand) > 0.1
    assert lines == [f"{run.path}: solves the test instances again, for the gap of each instance"]


def test_run_without_checkpoints_has_no_published_gap(run, references, tmp_path):
    """A line says why, and the other runs keep theirs."""
    bare = shutil.copytree(run.path, tmp_path / "bare")
    shutil.rmtree(bare / "checkpoints")
    lines = []
    runs = [load_run(bare), run]
    found = instance_gaps(runs, references, "cpu", lines.append)
    assert list(found) == [run.path]
    assert f"{bare}: no gaps as published: {bare / 'checkpoints'}" in lines[1]
    assert gaps_of_runs(runs, references.means, found) == {"U5": None}


def test_checkpoint_that_does_not_give_the_stored_cost_is_refused(run, references, tmp_path):
    """Then the tests or the parameters are others than those of the run."""
    other = changed(run, tmp_path / "changed", 1.002)
    lines = []
    assert instance_gaps([other], references, "cpu", lines.append) == {}
    assert f"U5: expected the mean cost in costs.csv, {other.final['U5']:.4f}, but" in lines[1]


def test_stored_cost_of_a_device_that_rounds_otherwise_is_accepted(run, references, tmp_path):
    """The gaps are those of the costs that the checkpoint gives here."""
    other = changed(run, tmp_path / "changed", 1.0005)
    (gaps,) = instance_gaps([other], references, "cpu", print).values()
    assert gaps == instance_gaps([run], references, "cpu", print)[run.path]


def test_published_gap_is_that_of_the_images_of_the_run(tmp_path):
    """A run tested on eight random images of each instance is solved on the same ones again."""
    config = tiny_config("fine-tuning", sizes=(20, 21))
    tested = attrs.evolve(config, augment=True, symmetries="random")
    run = load_run(tiny_learn(tested, tmp_path).folder.path)
    lay(tmp_path / "ones", run.config.tasks[0], 3, 1.0, problem="tsp")
    references = mean_references(run.config, Places(tmp_path / "ones"))
    found = instance_gaps([run], references, "cpu", print)
    assert found == {run.path: {"U20": pytest.approx(run.final["U20"] - 1, rel=1e-6)}}


def test_nothing_is_solved_without_references(run, tmp_path):
    """There is no gap to compute."""
    lines = []
    assert (
        instance_gaps([run], mean_references(run.config, Places(tmp_path)), "cpu", lines.append)
        == {}
    )
    assert lines == []


def test_mean_ratio_by_hand():
    """Gaps of 0.5 and 0.25; the gap of the means would be 1/3."""
    assert mean_ratio(torch.tensor([1.5, 2.5]), [1.0, 2.0]) == pytest.approx(0.375)
