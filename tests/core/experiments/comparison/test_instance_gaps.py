"""Gaps of runs: of the mean costs, and as published over the instances."""

import shutil

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
    changed = shutil.copytree(run.path, tmp_path / "changed")
    stored = run.final["U5"]
    text = (changed / "costs.csv").read_text(encoding="utf-8")
    (changed / "costs.csv").write_text(text.replace(repr(stored), repr(stored * 1.01)))
    (changed / "costs.csv.sha256").unlink()
    lines = []
    assert instance_gaps([load_run(changed)], references, "cpu", lines.append) == {}
    assert f"U5: expected the mean cost in costs.csv, {stored * 1.01:.4f}, but" in lines[1]


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
