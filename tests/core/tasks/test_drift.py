"""Tasks that drift: how much of a batch is of the task's own distribution, and who draws what."""

import collections
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
import scipy.stats
import torch
from hypothesis import given
from hypothesis import strategies as st
from lifelong_co_plugins.methods.multi_task import counted
from strategies import identical
from tiny_runs import tiny_config

import lifelong_co as lco
from lifelong_co.config.run_config import Config
from lifelong_co.pretraining.settings import configure
from lifelong_co.pretraining.state import start as start_pretraining
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import start
from lifelong_co.seeding import generator
from lifelong_co.tasks import drift
from lifelong_co.tasks import instances as streams
from lifelong_co.tasks.task import Task, drifting
from lifelong_co.tensors import records

LEVEL = 1e-4
"""Significance of each statistical test; the seeds are fixed."""


def task(size: int = 5, **settings: Any) -> Task:
    """Return a task of 4 x 5 steps that drifts from Manhattan to Euclidean distances.

    The distance of an instance tells where it came from.
    """
    budget = {"epochs": 4, "batches": 5, "batch_size": 50}
    fields = {"distribution": "U", "size": size, "drift_from": "U manhattan", **budget}
    return Task(**{**fields, **settings})


def own(batch: Any) -> torch.Tensor:
    """Return which instances are of the task's own distribution, bool ``[B]``."""
    return batch.distance == 2


@given(epochs=st.integers(1, 9), batches=st.integers(1, 9))
def test_share_of_the_new_distribution_rises_linearly(epochs: int, batches: int) -> None:
    """It is 0 at the first step and 1 at the last, rises equally at each step, and stays 1."""
    one = task(epochs=epochs, batches=batches)
    steps = epochs * batches
    shares = [drift.share(one, step) for step in range(steps)]
    assert shares[-1] == drift.share(one, steps) == drift.share(one, steps + 7) == 1
    if steps > 1:
        assert shares[0] == 0
        rises = [after - before for before, after in pairwise(shares)]
        assert rises == pytest.approx([1 / (steps - 1)] * (steps - 1))


def test_batches_are_mixed_binomially() -> None:
    """At every step each instance is of the new distribution with the chance of that step.

    The counts of 60 batches, by mean (binomial test) and by spread (dispersion against chi
    squared, two-sided): a coin tossed for whole batches, or none at all, would show.
    """
    one, trials = task(), 60
    draw = drift.training(one, lco.problem("tsp"))
    stream = generator(0, "instances")
    for step in range(1, 19):
        chance, B = drift.share(one, step), one.batch_size
        counts = [int(own(draw(stream, step, one.batch_size)).sum()) for _ in range(trials)]
        assert scipy.stats.binomtest(sum(counts), B * trials, chance).pvalue > LEVEL
        spread = sum((k - B * chance) ** 2 for k in counts) / (B * chance * (1 - chance))
        tail = scipy.stats.chi2.cdf(spread, trials)
        assert LEVEL / 2 < tail < 1 - LEVEL / 2


def test_every_row_of_a_batch_is_mixed_alike() -> None:
    """The origin of an instance does not depend on its row (chi squared over the rows)."""
    one, trials = task(), 200
    draw = drift.training(one, lco.problem("tsp"))
    stream = generator(1, "instances")
    at_row = sum(own(draw(stream, 7, one.batch_size)).long() for _ in range(trials))
    chance = drift.share(one, 7)
    spread = (at_row - trials * chance).square().sum() / (trials * chance * (1 - chance))
    assert scipy.stats.chi2.sf(float(spread), one.batch_size) > LEVEL


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_first_and_last_batch_are_of_one_distribution(problem: str) -> None:
    """The first batch is all of the old one, the last all of the new; size and capacity stay."""
    made = lco.problem(problem)
    one = task(9, distribution="G", drift_from="E", capacity=77)
    former = attrs.evolve(one, distribution="E", drift_from="")
    assert identical(streams.testing(one.former, made, 5)[0], streams.testing(former, made, 5)[0])
    draw, stream = drift.training(one, made), generator(0, "instances")
    # As documented: own, former, coins.
    B = one.batch_size
    first, last = (draw(generator(0, "instances"), step, B) for step in (0, 19))
    assert identical(last, streams.training(one, made)(stream, B))
    assert identical(first, streams.training(former, made)(stream, B))
    if problem == "cvrp":
        assert torch.equal((first.demand * 77).round() / 77, first.demand)


def test_batch_follows_from_the_stream_and_the_step() -> None:
    """Batches share no other state, and a task without drift draws no extra numbers."""
    made = lco.problem("cvrp")
    one, still = task(), task(drift_from="")
    ahead = drift.training(one, made)
    for step in range(3):
        ahead(generator(9, "elsewhere"), step, one.batch_size)
    again = drift.training(one, made)
    pair = [draw(generator(0, "instances"), 8, one.batch_size) for draw in (ahead, again)]
    assert identical(*pair)
    for step in (0, 3, 19):
        drawn = drift.training(still, made)(generator(0, "instances"), step, 5)
        assert identical(drawn, streams.training(still, made)(generator(0, "instances"), 5))


def test_tests_do_not_drift() -> None:
    """Tests, label and what makes runs comparable are those of the task without drift."""
    made = lco.problem("cvrp")
    one, still = task(distribution="E", drift_from="U"), task(distribution="E", drift_from="")
    assert identical(streams.testing(one, made, 6)[0], streams.testing(still, made, 6)[0])
    assert (one.label, one.tested) == (still.label, still.tested)


def config(method: str = "fine-tuning", **settings: Any) -> Config:
    """Return a run of two tasks, the second of which drifts from the first one's distance."""
    found = tiny_config(method, "tsp", (5, 6))
    first = attrs.evolve(found.tasks[0], distance="manhattan", epochs=3)
    return attrs.evolve(found, tasks=drifting((first, found.tasks[1])), **settings)


def test_stream_draws_at_the_step_of_the_run(tmp_path: Path) -> None:
    """The present task is drawn at its step, any other task at its end or at a given step."""
    run = start(config(), RunFolder(tmp_path))
    learner, draw = run.learner, run.learner.draw
    last = learner.tasks[1].epochs * learner.tasks[1].batches - 1
    learner.task, learner.epoch, learner.batch = 1, 0, 0
    assert not own(draw(1)).any()
    learner.epoch, learner.batch = divmod(last, learner.tasks[1].batches)
    assert own(draw(1)).all()
    learner.batch += 1  # after the last batch, where a greedy baseline is judged
    assert own(draw(1)).all()
    learner.task = learner.epoch = learner.batch = 0
    assert own(draw(1)).all()
    assert not own(draw(1, 0)).any()
    assert own(draw(1, last)).all()
    assert draw(0).distance.tolist() == [1.0] * 4


@given(st.lists(st.integers(0, 3), max_size=20))
def test_multi_task_counts_the_steps_of_each_task(plan: list[int]) -> None:
    """They count in order from 0, also when other tasks come between."""
    found = counted(plan)
    assert [place for place, _ in found] == plan
    for place, count in collections.Counter(plan).items():
        assert [step for other, step in found if other == place] == list(range(count))


@pytest.mark.parametrize("method", ["multi-task-epoch", "multi-task-batch"])
def test_multi_task_learns_the_drift_of_each_task(method: str, tmp_path: Path) -> None:
    """The first batch of a task is all of the old distribution, the last all of the new one."""
    run = start(config(method), RunFolder(tmp_path))
    learner = run.learner
    shares: dict[int, list[float]] = {5: [], 6: []}  # by size, which tells the task
    for index, each in enumerate(learner.tasks):
        for step in range(each.epochs * each.batches):
            learner.task = index
            learner.epoch, learner.batch = divmod(step, each.batches)
            batch = run.method.instances(learner)
            shares[batch.nodes.shape[1]].append(float(own(batch).float().mean()))
    assert shares[5] == [0.0] * 6  # it does not drift
    assert len(shares[6]) == 4
    assert (shares[6][0], shares[6][-1]) == (0.0, 1.0)


def test_each_task_drifts_from_the_previous_task() -> None:
    """Distribution and distance are the previous task's; options of a task have priority."""
    budget = {"epochs": 1, "batches": 1, "batch_size": 1}
    said = [("U", {}), ("U", {}), ("E", {}), ("E", {"distance": "manhattan"})]
    said += [("C", {}), ("G", {"drift_from": "R"})]
    tasks = tuple(Task(distribution=name, size=9, **budget, **more) for name, more in said)
    found = drifting(tasks)
    assert [task.drift_from for task in found] == [
        "", "", "U", "E euclidean", "E manhattan", "R"
    ]  # fmt: skip
    assert tuple(attrs.evolve(task, drift_from="") for task in found[:-1]) == tasks[:-1]
    assert [task.former.label for task in found[2:]] == [task.label for task in found[2:]]
    assert [task.former.distance for task in found[2:5]] == ["euclidean", "euclidean", "manhattan"]
    assert drifting(()) == ()
    said_so = (attrs.evolve(tasks[0], distribution="", files="may.npz"), found[-1])
    assert drifting(said_so) == said_so


def test_unusable_drift_is_refused(tmp_path: Path) -> None:
    """The distribution is missing or unknown, the task has no size, or there is no order."""
    budget = {"epochs": 1, "batches": 1, "batch_size": 1}
    files, uniform = Task(files="may.npz", **budget), task(drift_from="")
    with pytest.raises(lco.ConfigError, match="U5: expected a task with a distribution before it"):
        drifting((files, uniform))
    with pytest.raises(lco.ConfigError, match="drift_from: expected a task with a size"):
        drifting((uniform, files))
    with pytest.raises(lco.UnknownNameError, match="Unknown distance 'manhatten'"):
        task(drift_from="U manhatten")
    of = config()
    unknown = attrs.evolve(of.tasks[1], drift_from="UU")
    with pytest.raises(lco.UnknownNameError, match="distribution 'UU'") as refused:
        prepare(attrs.evolve(of, tasks=(of.tasks[0], unknown)), tmp_path / "run")
    assert refused.value.__notes__ == ["task U6"]
    assert not (tmp_path / "run").exists()
    meta = attrs.evolve(configure(preset="demo"), tasks=of.tasks)
    with pytest.raises(lco.ConfigError, match="task U6: expected no drift"):
        start_pretraining(meta, tmp_path / "meta")


def test_task_of_files_can_drift(tmp_path: Path) -> None:
    """A task of files of one size may drift from a distribution."""
    made = lco.problem("tsp")
    np.savez(tmp_path / "may.npz", nodes=np.full((3, 5, 2), 0.25, dtype=np.float32))
    one = task(distribution="", files=str(tmp_path / "may.npz"), drift_from="U")
    draw, stream = drift.training(one, made), generator(0, "instances")
    shares = [(draw(stream, step, 50).nodes == 0.25).float().mean().item() for step in (0, 10, 19)]
    assert shares[0] == 0
    assert 0.2 < shares[1] < 0.8
    assert shares[2] == 1
    assert records.rows(draw(stream, 10, 50)) == 50
