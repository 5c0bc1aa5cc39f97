"""Test instances, kept or made again, and the tasks that are tested after each task."""

import json
import math
from pathlib import Path

import attrs
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tiny_runs import stopped_and_resumed, tiny_config, tiny_learn

import lifelong_co as lco
from lifelong_co import metrics
from lifelong_co.experiments.comparison.runs import load_run
from lifelong_co.runs.costs import summary
from lifelong_co.tasks.held_out import HeldOut
from lifelong_co.tensors import records

SIZES = (5, 6, 8, 7)
LEAN = attrs.evolve(tiny_config("llr-bc", sizes=SIZES), tested="next")
FULL = attrs.evolve(LEAN, tested="all")


def test_instances_made_again_are_the_kept_ones() -> None:
    """Bit for bit, for an index and for a slice."""
    problem = lco.problem("tsp")
    kept, made = (HeldOut(LEAN.tasks, problem, 3, keep=keep) for keep in (True, False))
    assert len(made) == len(kept) == 4
    for one, other in zip(kept[1:], made[1:], strict=True):
        for group, again in zip(one, other, strict=True):
            left, right = records.tensors(group), records.tensors(again)
            assert all(torch.equal(left[name], right[name]) for name in left)


def test_tasks_that_are_due() -> None:
    """All, or the present and the next one, and all at the end."""
    problem = lco.problem("tsp")
    kept, made = (HeldOut(LEAN.tasks, problem, 1, keep=keep) for keep in (True, False))
    assert [list(made.due(task, True, alone=False)) for task in range(4)] == [
        [0, 1],
        [1, 2],
        [2, 3],
        [0, 1, 2, 3],
    ]
    assert list(made.due(2, False, alone=False)) == [2]
    assert list(kept.due(2, True, alone=False)) == [0, 1, 2, 3]
    assert list(kept.due(2, False, alone=False)) == [0, 1, 2]
    assert list(kept.due(2, False, alone=True)) == [2]


@given(arrays(float, (4, 4), elements=st.floats(1.0, 9.0)))
def test_metrics_are_those_of_the_whole_matrix(costs: np.ndarray) -> None:
    """AP, AF, APl and AG with the same d*; AMF is unknown."""
    before = np.array([math.nan, *(costs[i, i + 1] for i in range(3))])
    found, best = metrics.summarize_next(before, np.diagonal(costs), costs[-1])
    whole = metrics.summarize(costs, best)
    for name in ("AP", "AF", "APl", "AG"):
        assert getattr(found, name) == pytest.approx(getattr(whole, name), abs=1e-12)
    assert math.isnan(found.AMF)


def test_run_has_the_costs_of_a_whole_run_where_it_tests(tmp_path: Path) -> None:
    """It learns the same, and its folder says what is not measured."""
    lean, full = tiny_learn(LEAN, tmp_path / "lean"), tiny_learn(FULL, tmp_path / "full")
    assert len(lean.costs) == 3 * 2 + 4
    assert set(lean.costs) < set(full.costs)
    said = json.loads((tmp_path / "lean" / "run" / "metrics.json").read_text())
    assert said["metrics"]["AMF"] is None
    assert said["costs"]["before"][0] is None
    assert said["costs"]["last"] == lco.load(tmp_path / "full" / "run").costs[-1]
    assert lco.load(tmp_path / "lean" / "run").metrics == said["metrics"]


def test_unfinished_run_has_no_final_costs(tmp_path: Path) -> None:
    """So AP and AF are unknown, and APl is not."""
    run = stopped_and_resumed(LEAN, tmp_path, after=5)
    whole = tiny_learn(LEAN, tmp_path / "whole")
    assert run.costs == whole.costs
    found = summary([cost for cost in whole.costs if cost.learning < 3], LEAN)
    assert found is not None
    assert found["metrics"]["AP"] is found["metrics"]["AF"] is None
    assert found["metrics"]["APl"] is not None


def test_comparison_refuses_it_by_name(tmp_path: Path) -> None:
    """A comparison needs the whole matrix."""
    tiny_learn(LEAN, tmp_path)
    with pytest.raises(lco.ConfigError, match="tests all tasks after each task"):
        load_run(tmp_path / "run")
