"""Warnings about files where a cost says little."""

from pathlib import Path

import attrs
import numpy as np
import pytest
from paths import FIXTURES
from synthetic_benchmarks import drawn
from tiny_runs import tiny_config

from lifelong_co.errors import Interrupted
from lifelong_co.experiments.benchmark.cautions import (
    coarse,
    largest_learned,
    largest_of_run,
    too_large,
)
from lifelong_co.instance_files.file_instance import FileInstance
from lifelong_co.instance_files.formats import read_file
from lifelong_co.learner import learn
from lifelong_co.runs.imports import METHOD
from lifelong_co.runs.prepare import prepare
from lifelong_co.tasks.task import Task


def test_largest_size_learned() -> None:
    """Of the tasks learned; unknown for an import."""
    config = tiny_config(sizes=(5, 9, 7))
    assert [largest_learned(config, k) for k in (1, 2, 3, None)] == [5, 9, 9, 9]
    assert largest_learned(attrs.evolve(config, method=METHOD, method_options={})) is None


def test_size_of_files_is_what_the_run_knows() -> None:
    """The files may be gone; a run of an earlier version does not know it."""
    config = tiny_config(sizes=(5, 9, 7))
    files = Task(files="x.npz", name="mine", epochs=1, batches=1, batch_size=1)
    config = attrs.evolve(config, tasks=(*config.tasks, files))
    assert largest_learned(config, data={"mine": {"files": "0", "largest": 12}}) == 12
    assert largest_learned(config, data={"mine": {"files": "0"}}) is None
    assert largest_learned(config) is None
    assert largest_learned(config, 3) == 9


def test_largest_size_of_an_unfinished_run(tmp_path: Path) -> None:
    """Of its latest checkpoint, not of tasks that it has yet to learn."""
    run = prepare(tiny_config(sizes=(5, 9)), tmp_path)
    with pytest.raises(Interrupted):
        learn(run, stop=lambda: run.learner.task == 1)
    assert [largest_of_run(tmp_path, after) for after in (None, 1, 2)] == [5, 5, 9]


def test_far_larger_instances_are_warned_of() -> None:
    """More than twice the largest size."""
    five = read_file(FIXTURES / "five.tsp")
    assert too_large(five, 3) == too_large(five, None) == ""
    assert too_large(five, 2).startswith(
        "five: 5 nodes are more than twice the largest size learned (2); "
    )


@pytest.mark.parametrize(
    ("rule", "cost"), [("EUC_2D", 12), ("CEIL_2D", 16), ("FLOOR_2D", 12), ("EXACT_2D", 0)]
)
def test_distances_that_are_rounded_away_are_warned_of(rule: str, cost: int) -> None:
    """A square of side 3.4: the warning has both lengths. EXACT_2D rounds to thousandths only."""
    square = np.array([[0, 0], [0, 1], [1, 1], [1, 0]])
    one = attrs.evolve(drawn("a"), coordinates=3.4 * square, distance_rule=rule)
    said = coarse(one, [0, 1, 2, 3])
    assert bool(said) is (cost > 0)
    assert not said or f"the cost is {cost}, the length without rounding 13.6; " in said
    fine = attrs.evolve(one, coordinates=100.4 * square)
    assert coarse(fine, [0, 1, 2, 3]) == ""
    unrounded = attrs.evolve(one, distance_rule="UNROUNDED")
    assert coarse(unrounded, [0, 1, 2, 3]) == ""


def test_listed_distances_are_whole_already() -> None:
    """Nothing is rounded."""
    weights = np.ones((3, 3), dtype=np.int64)
    one = FileInstance("w", "tsp", np.zeros((3, 0)), None, None, "EXPLICIT", weights=weights)
    assert coarse(one, [0, 1, 2]) == ""
