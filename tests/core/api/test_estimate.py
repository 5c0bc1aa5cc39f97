"""The estimate of a run: what is counted, and that nothing is written."""

import attrs
import numpy as np
import pytest
import torch
from tiny_runs import tiny_config

from lifelong_co import registry
from lifelong_co.api import estimate as module
from lifelong_co.api.estimate import bytes_of, estimate
from lifelong_co.learner import train_batch
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.run import start

METHODS = (
    *("llr-bc", "fine-tuning", "ewc", "li-inter", "feng", "restart", "multi-task-batch"),
    *("rehearsal", "clear", "der++", "libog"),
)


@pytest.mark.parametrize("method", METHODS)
def test_each_method_has_an_estimate(method, tmp_path, monkeypatch):
    """Every size has a time, all steps are counted, and no file is written."""
    monkeypatch.chdir(tmp_path)
    config = tiny_config(method, sizes=(5, 6, 5))
    found = estimate(config)
    assert set(found.each) == {(5, 4), (6, 4)}
    assert found.steps == 12
    assert found.seconds == found.training + found.testing > 0
    assert (found.buffer is not None) == (method in {"llr-bc", "der++"})
    assert list(tmp_path.iterdir()) == []


def test_tasks_of_files_without_a_size_have_a_time_each(tmp_path):
    """One file can have larger instances than the other."""
    config = tiny_config("fine-tuning", sizes=(5, 6))
    tasks = []
    for task in config.tasks:
        path = tmp_path / f"{task.size}.npz"
        drawn = registry.distribution("U", problem="tsp").sample(8, task.size)
        np.savez(path, nodes=drawn.nodes.numpy())
        tasks.append(attrs.evolve(task, distribution="", size=0, files=str(path)))
    found = estimate(attrs.evolve(config, tasks=tuple(tasks)))
    assert set(found.each) == {(task.files, 4) for task in tasks}


def test_time_is_the_sum_over_all_steps_and_tests(monkeypatch):
    """With a clock that gives each step a second: 3 tasks of 4 steps; 9 tests of 3 instances."""
    monkeypatch.setattr(module, "seconds_of_step", lambda *_: 1.0)
    ticks = iter(range(100))
    monkeypatch.setattr(module, "now", lambda *_: float(next(ticks)))
    found = estimate(tiny_config("fine-tuning", sizes=(5, 6, 5)))
    assert (found.steps, found.training) == (12, 12.0)
    assert found.testing == pytest.approx(9.0)  # a batch of 3 tests takes one tick


@pytest.mark.parametrize("sizes", [(5, 5), (5, 6)])
def test_measured_steps_have_replay(sizes, monkeypatch):
    """Also if all tasks have one size; no task comes after a later one."""
    seen = []
    monkeypatch.setattr(module, "seconds_of_step", lambda _: 1.0)

    def trained(run):
        seen.append(run.learner.task)
        return train_batch(run)

    monkeypatch.setattr(module, "train_batch", trained)
    estimate(tiny_config("rehearsal", sizes=sizes))
    assert seen == sorted(seen)
    assert max(seen) == 2 * len(set(sizes)) - 1


@pytest.mark.parametrize(
    ("batches", "measured"), [(4, [1, 2, 3] * 3 + [1]), (2, [1] * 10), (1, [0] * 10)]
)
def test_measured_steps_are_consecutive_from_the_second(monkeypatch, batches, measured):
    """The first step of a task has checks of the solver; a method may replay in every fifth."""
    seen = []
    monkeypatch.setattr(module, "train_batch", lambda run: seen.append(run.learner.batch))
    run = start(tiny_config("fine-tuning"), RunFolder(module.NOWHERE))
    run.method = attrs.evolve(run.method, batches=lambda _: batches)
    module.seconds_of_step(run)
    assert seen == measured


def test_long_steps_are_measured_twice(monkeypatch):
    """Of the largest networks each takes seconds."""
    seen, clock = [], iter(range(100))
    monkeypatch.setattr(module, "now", lambda _: 3.0 * next(clock))
    monkeypatch.setattr(module, "train_batch", lambda run: seen.append(run.learner.batch))
    module.seconds_of_step(start(tiny_config("fine-tuning"), RunFolder(module.NOWHERE)))
    assert len(seen) == module.STEPS


def test_last_epoch_begins_with_its_first_batch(monkeypatch):
    """It can have fewer batches than the others, as those of multi-task learning in the code."""
    seen = []

    def trained(run):
        seen.append((run.learner.epoch, run.learner.batch))

    monkeypatch.setattr(module, "train_batch", trained)
    monkeypatch.setattr(module, "MOST", 2)
    run = start(tiny_config("fine-tuning"), RunFolder(module.NOWHERE))
    module.learned_briefly(run, 0, timed=True)
    last = run.config.tasks[0].epochs - 1
    assert seen == [(0, 0), (0, 1), (0, 1), (last, 0)]


def test_full_buffer_is_the_capacity_times_the_largest_item():
    """Twice the capacity needs twice the memory."""
    one, two = (estimate(tiny_config(buffer_size=size)).buffer for size in (10, 20))
    assert one is not None
    assert two == 2 * one > 0
    three, four = (estimate(tiny_config(buffer_size=n, bundle_size=4)).buffer for n in (7, 4))
    assert three == four  # each holds one bundle


def test_tests_of_the_curve_are_counted():
    """With a test after each of two epochs: after the first one, the tasks learned so far."""
    config = attrs.evolve(tiny_config("fine-tuning", sizes=(5, 5, 5)), curve_every=1)
    run = type("Standing", (), {"method": type("Method", (), {"restarts": False})})
    assert module.tests_of(run, config, 0) == {0: 6, 1: 5, 2: 4}
    # Two tasks are learned: what was there after each of them is tested on the third, too.
    assert module.tests_of(run, config, 2) == {0: 2, 1: 2, 2: 4}
    sparse = attrs.evolve(config, tests_after="next")
    assert module.tests_of(run, sparse, 0) == {0: 3, 1: 4, 2: 3}


def test_published_tests_are_estimated(monkeypatch):
    """They are 1,000, and the estimate measures fewer; the time of one is that of any other."""
    config = attrs.evolve(tiny_config("fine-tuning", sizes=(5,)), tests=1000)
    tasks = tuple(attrs.evolve(task, tests_of="published") for task in config.tasks)
    monkeypatch.setattr(module, "seconds_of_step", lambda _: 1.0)
    ticks = iter(range(100))
    monkeypatch.setattr(module, "now", lambda *_: float(next(ticks)))
    monkeypatch.setattr(module, "instances_at_once", lambda *_: 10)
    found = estimate(attrs.evolve(config, tasks=tasks))
    assert found.testing == pytest.approx(100)  # a batch of 10 takes one tick


def test_all_instances_of_test_files_count(tmp_path):
    """A folder has so many tests of each size, or fewer."""
    for size, count in ((4, 2), (6, 9)):
        rng = np.random.default_rng(size)
        np.savez(tmp_path / f"{size}.npz", nodes=rng.random((count, size, 2), dtype=np.float32))
    [task] = tiny_config(sizes=(5,)).tasks
    files = attrs.evolve(task, distribution="", size=0, files=str(tmp_path))
    problem = registry.problem("tsp")
    assert [module.tested(one, problem, 3) for one in (files, task)] == [2 + 3, 3]


def test_further_tasks_are_estimated_alone():
    """Learned tasks take no steps any more."""
    config = tiny_config("fine-tuning", sizes=(5, 6, 5))
    assert estimate(config, 2).steps == estimate(config).steps / 3
    assert [*estimate(config, 2).each] == [(5, config.tasks[2].batch_size)]


def test_bytes_of_nested_values():
    """Tensors count; numbers and texts do not."""
    value = {"a": torch.zeros(3), "b": [torch.zeros(2, dtype=torch.uint8), {"c": 5}], "d": "x"}
    assert bytes_of(value) == 14
