"""Tasks under other distances: trained, replayed and tested by them, and never mixed up."""

from pathlib import Path
from typing import Any

import attrs
import pytest
import synthetic_runs
import torch
from lifelong_co_plugins.methods.instance_replay.memory import InstanceMemory
from strategies import identical
from tiny_runs import tiny_config

import lifelong_co as lco
from lifelong_co.config.run_config import Config, from_toml, to_toml
from lifelong_co.config.task_file import read_tasks
from lifelong_co.errors import ConfigError, Interrupted, UnknownNameError
from lifelong_co.evaluation import mean_cost
from lifelong_co.experiments.comparison.comparison import compare_folders
from lifelong_co.experiments.references.sources import from_run
from lifelong_co.experiments.sweep.plan import tasks_tested
from lifelong_co.learner import learn
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.prepare import prepare
from lifelong_co.runs.run import start
from lifelong_co.seeding import generator
from lifelong_co.tasks import instances as streams
from lifelong_co.tasks.task import Task, unique_labels

BUDGET = {"epochs": 1, "batches": 1, "batch_size": 6}
OTHERS = ("manhattan", "chebyshev")


def config(method: str = "fine-tuning", problem: str = "cvrp", **options: Any) -> Config:
    """Return a run of one distribution and size under three distances."""
    found = tiny_config(method, problem, (5, 5, 5), **options)
    named = zip(found.tasks, ("manhattan", "euclidean", "chebyshev"), strict=True)
    return attrs.evolve(
        found, tasks=tuple(attrs.evolve(task, distance=name) for task, name in named)
    )


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_instances_are_the_same_under_each_distance(problem: str, name: str) -> None:
    """Training and test instances, also the paper's, differ in the distance alone."""
    made = lco.problem(problem)
    for task, tests in ((Task(distribution="U", size=7, **BUDGET), 5), (
        Task(distribution="U", size=20, **BUDGET), 1000
    )):  # fmt: skip
        other = attrs.evolve(task, distance=name)
        pairs = [(streams.testing(each, made, tests)[0]) for each in (task, other)]
        pairs += [streams.training(each, made)(generator(0, "x"), tests) for each in (task, other)]
        for one, two in (pairs[:2], pairs[2:]):
            assert one.distance is None
            assert len(set(two.distance.tolist())) == 1
            assert identical(attrs.evolve(two, distance=None), one)


def test_labels_name_the_distance() -> None:
    """It follows the size, unless the task has a name or the distance is Euclidean."""
    task = Task(distribution="U", size=20, distance="manhattan", **BUDGET)
    assert task.label == "U20 manhattan"
    assert attrs.evolve(task, distance="euclidean").label == "U20"
    assert attrs.evolve(task, name="blocks").label == "blocks"
    files = attrs.evolve(task, distribution="", size=0, files="town.npz")
    assert files.label == "town manhattan"
    labels = [each.label for each in unique_labels((task, task))]
    assert labels == ["U20 manhattan", "U20 manhattan (2)"]


def test_configuration_names_only_other_distances(tmp_path: Path) -> None:
    """A Euclidean task without drift is written as in earlier versions; all tasks are read back."""
    plain = to_toml(tiny_config())
    assert "distance" not in plain
    assert "drift_from" not in plain
    of = config()
    assert from_toml(to_toml(of)) == of
    assert to_toml(of).count("distance = ") == 2
    file = tmp_path / "tasks.toml"
    text = "epochs = 1\nbatches = 1\nbatch_size = 1\n[[tasks]]\ndistribution = 'U'\nsize = 5\n"
    file.write_text(text + "distance = 'chebyshev'\ndrift_from = 'E euclidean'")
    [task] = read_tasks(file)
    assert (task.distance, task.drift_from) == ("chebyshev", "E euclidean")
    for slip, said in (
        ("distance = 'manhatan'", "Unknown distance 'manhatan'.*Did you mean 'manhattan'"),
        ("distance = 1", "distance: expected a text, got 1"),
        ("drift_from = 'E taxi'", "Unknown distance 'taxi'"),
    ):
        file.write_text(text + slip)
        with pytest.raises((ConfigError, UnknownNameError), match=f"tasks.toml, task 1: {said}"):
            read_tasks(file)


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_tests_use_the_distance_of_the_task(problem: str, tmp_path: Path) -> None:
    """On the same instances Manhattan costs most and Chebyshev least, with eight images too."""
    for augment in (False, True):
        of = attrs.evolve(config(problem=problem), augment=augment)
        run = learn(prepare(of, tmp_path / str(augment)))
        last = {cost.name: cost.cost for cost in run.costs if cost.learning == 3}
        assert list(last) == ["U5 manhattan", "U5", "U5 chebyshev"]
        assert last["U5 manhattan"] > last["U5"] > last["U5 chebyshev"]
        solver = run.learner.solver
        for task, tests in zip(of.tasks, run.tests, strict=True):
            assert mean_cost(solver, tests, augment=augment) == last[task.label]


def test_training_uses_the_distance_of_the_task(tmp_path: Path) -> None:
    """The loss of the first step is REINFORCE on the lengths under the task's distance."""
    single = attrs.evolve(config(), tasks=config().tasks[:1])
    euclidean = attrs.evolve(
        single, tasks=tuple(attrs.evolve(task, distance="euclidean") for task in single.tasks)
    )
    runs = [start(of, RunFolder(tmp_path / str(i))) for i, of in enumerate((single, euclidean))]
    batches = [run.learner.draw(0) for run in runs]
    rollouts = [
        run.learner.solver.rollout(batch, "sample", generator=run.actions)
        for run, batch in zip(runs, batches, strict=True)
    ]
    assert torch.equal(rollouts[0].actions, rollouts[1].actions)
    ours, theirs = (rollout.cost for rollout in rollouts)
    assert bool((ours > theirs).all())
    assert bool((ours <= 2**0.5 * theirs + 1e-6).all())


def test_replayed_instances_keep_their_distance(tmp_path: Path) -> None:
    """A past task costs the same when replayed, also after a checkpoint."""
    run = start(config("feng"), RunFolder(tmp_path / "run"))
    learner, memory = run.learner, InstanceMemory(20)
    for task in range(3):
        learner.task = task
        memory.offer(learner, learner.draw(task))
    again = InstanceMemory(20)
    again.load_state_dict(learner, memory.state_dict())
    for held in (memory, again):
        drawn = [held.sample(learner, task) for task in range(3)]
        found = [None if batch.distance is None else batch.distance[0].item() for batch in drawn]
        assert found == [1.0, None, float("inf")]


REPLAYING = {"llr-bc": {"buffer_size": 6, "replay_size": 4}, "feng": {}, "li-inter": {}}


@pytest.mark.parametrize("name", REPLAYING)
def test_methods_that_replay_resume_to_the_same_costs(name: str, tmp_path: Path) -> None:
    """Batches of different distances are replayed together, with and without a checkpoint."""
    of = config(name, **REPLAYING[name])
    whole = learn(prepare(of, tmp_path / "whole"))
    steps = iter(range(100))
    with pytest.raises(Interrupted):
        learn(prepare(of, tmp_path / "run"), stop=lambda: next(steps) == 9)
    resumed = learn(prepare(of, tmp_path / "run", resume=True))
    assert resumed.costs == whole.costs


def test_runs_under_different_distances_are_not_compared(tmp_path: Path) -> None:
    """The name of the task does not matter; in a sweep they share no least costs either."""
    configs = [
        synthetic_runs.config(task={"name": "first", "distance": name})
        for name in ("euclidean", "manhattan")
    ]
    folders = [synthetic_runs.write(tmp_path / str(i), of) for i, of in enumerate(configs)]
    with pytest.raises(ConfigError, match="task first, distance: euclidean and manhattan"):
        compare_folders(folders)
    assert len({tasks_tested(of) for of in configs}) == 2
    drifts = attrs.evolve(
        configs[0], tasks=(configs[0].tasks[0], *(
            attrs.evolve(task, drift_from="U") for task in configs[0].tasks[1:]
        ))
    )  # fmt: skip
    assert tasks_tested(drifts) == tasks_tested(configs[0])
    both = [folders[0], synthetic_runs.write(tmp_path / "drifting", drifts)]
    labels = [group.label for group in compare_folders(both).groups]
    assert labels[0].startswith("llr-bc (C40.drift_from=none, ")
    assert labels[1].startswith("llr-bc (C40.drift_from=U, ")


def test_references_use_the_distance_of_the_task() -> None:
    """Each test instance of each task has one subject, and all subjects differ."""
    subjects = from_run(config(problem="tsp"))
    assert len({subject.key for subject in subjects}) == len(subjects) == 9
    tour = list(range(5))
    costs = [subject.cost(tour) for subject in subjects]
    for manhattan, straight, chebyshev in zip(costs[:3], costs[3:6], costs[6:], strict=True):
        assert manhattan > straight > chebyshev
