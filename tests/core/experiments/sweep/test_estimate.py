"""What is said about the time that a sweep still takes."""

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from synthetic_runs import finish, two_orders

from lifelong_co.experiments.sweep import estimate
from lifelong_co.experiments.sweep.job import Job
from lifelong_co.experiments.sweep.plan import Plan


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Plan four runs of two tasks with two epochs each: two orders and two seeds."""
    return two_orders(tmp_path, "fine-tuning")


def write_log(folder: Path, entries: list[dict[str, Any]]) -> None:
    """Write a log with one line for each epoch."""
    (folder / "log.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))


def test_runs_take_as_long_as_the_mean_of_the_finished_ones(plan: Plan) -> None:
    """In any order of the tasks; the epochs that a log holds are subtracted."""
    assert estimate.remaining(plan) == {}
    one, two, three, four = plan.jobs.values()
    for job, seconds in ((one, 2.0), (two, 4.0)):
        job.prepare()
        finish(job.folder)
        log = [{"learning": 1, "epoch": 1, "seconds": seconds} for _ in range(4)]
        write_log(job.folder, log)
    three.prepare()
    write_log(three.folder, [{"learning": 1, "epoch": 1, "seconds": 5.0}])
    assert estimate.remaining(plan) == {three.name: 7.0, four.name: 12.0}


def test_runs_of_the_same_row_count_first(plan: Plan) -> None:
    """A method with replay takes longer than fine-tuning; only without its runs others count."""
    one, two, three, four = plan.jobs.values()
    for job, seconds, method in ((one, 2.0, "fine-tuning"), (two, 8.0, "li-inter")):
        config = attrs.evolve(job.config, method=method)
        job = plan.jobs[job.name] = attrs.evolve(job, config=config)
        job.prepare()
        finish(job.folder)
        write_log(job.folder, [{"learning": 1, "epoch": 1, "seconds": seconds}])
    plan.jobs[four.name] = attrs.evolve(four, config=attrs.evolve(four.config, method="feng"))
    assert estimate.remaining(plan) == {three.name: 2.0, four.name: 5.0}


def test_nothing_is_estimated_where_a_kind_has_no_finished_run(plan: Plan) -> None:
    """Another solver, or another number of epochs, is another kind."""
    first, *others = plan.jobs.values()
    first.prepare()
    finish(first.folder)
    assert set(estimate.remaining(plan)) == {job.name for job in others}
    longer = tuple(attrs.evolve(task, epochs=3) for task in first.config.tasks)
    for change in ({"solver": "omni"}, {"problem": "tsp"}, {"tasks": longer}):
        other = Job("other", plan.folder / "other", attrs.evolve(first.config, **change))
        assert estimate.remaining(attrs.evolve(plan, jobs={**plan.jobs, "other": other})) == {}


def test_a_log_counts_up_to_a_torn_line(tmp_path: Path) -> None:
    """The estimate goes by what can be read."""
    assert estimate.logged(tmp_path) == 0
    good = '{"learning": 1, "seconds": 2.0}\n'
    for damaged in ('{"learning": 1, "sec', "[" * 100_000, f'{{"seconds": {10**400}}}'):
        (tmp_path / "log.jsonl").write_text(good * 2 + damaged)
        assert estimate.logged(tmp_path) == 4


def test_wall_time_by_hand() -> None:
    """Slots share the work, but one run is never split."""
    assert estimate.wall([60.0, 60.0, 60.0], 2) == 90
    assert estimate.wall([100.0, 10.0], 2) == 100
    assert estimate.wall([], 2) == 0
