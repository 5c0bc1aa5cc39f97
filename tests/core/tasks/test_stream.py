"""The stream of a run's training batches."""

from typing import Any

import attrs
import pytest
import torch

import lifelong_co as lco
from lifelong_co.tasks import Task
from lifelong_co.tasks.instances import training
from lifelong_co.tasks.stream import TaskStream, task_stream

BUDGET = {"epochs": 2, "batches": 3, "batch_size": 4}
TASKS = (
    Task(distribution="U", size=5, **BUDGET),
    Task(distribution="U", size=7, distance="manhattan", drift_from="U euclidean", **BUDGET),
)
TSP = lco.problem("tsp")


def stream(seed: int = 0) -> TaskStream:
    """Return the stream of the tasks with this seed."""
    return task_stream(TASKS, TSP, torch.Generator().manual_seed(seed), "cpu")


def test_all_tasks_are_drawn_from_one_stream() -> None:
    """Batches follow the order of the calls; the state of the generator is the only state."""
    source, plain = stream(), torch.Generator().manual_seed(0)
    own = training(TASKS[0], TSP)
    first = source.batch(0, 0)
    assert torch.equal(first.nodes, own(plain, 4).nodes)
    state = source.generator.get_state()
    batches: list[Any] = [source.batch(1, 0), source.batch(0, 5)]
    source.generator.set_state(state)
    for task, step, batch in ((1, 0, batches[0]), (0, 5, batches[1])):
        assert torch.equal(source.batch(task, step).nodes, batch.nodes)
    assert not torch.equal(first.nodes, batches[1].nodes)


def test_another_seed_gives_other_batches() -> None:
    """The same seed gives the same batches."""
    assert torch.equal(stream(3).batch(1, 0).nodes, stream(3).batch(1, 0).nodes)
    assert not torch.equal(stream(3).batch(1, 0).nodes, stream(4).batch(1, 0).nodes)


@pytest.mark.parametrize("drift", ["", "E"])
def test_last_batch_of_an_epoch_has_its_size(drift: str) -> None:
    """All other batches are those of a task whose batches have one size."""
    plain = Task(distribution="U", size=5, drift_from=drift, **BUDGET)
    task = attrs.evolve(plain, last_batch_size=1)
    sources = [
        task_stream([t], TSP, torch.Generator().manual_seed(0), "cpu") for t in (task, plain)
    ]
    drawn, whole = ([source.batch(0, step) for step in range(6)] for source in sources)
    assert [len(batch.nodes) for batch in drawn] == 2 * [4, 4, 1]
    assert [len(batch.nodes) for batch in whole] == 6 * [4]
    assert all(torch.equal(drawn[t].nodes, whole[t].nodes) for t in (0, 1))


def test_batches_of_a_drifting_task_change_with_the_step() -> None:
    """The first batch has the old distance, the last the new one."""
    source = stream()
    assert source.batch(1, 0).nodes.shape == (4, 7, 2)
    assert set(source.batch(1, 0).distance.tolist()) == {2.0}
    assert set(source.batch(1, 5).distance.tolist()) == {1.0}


def test_batch_apart_is_that_of_the_end_from_another_generator() -> None:
    """The stream of the run stays as it is."""
    source, other = stream(), torch.Generator().manual_seed(1)
    before = source.generator.get_state()
    assert torch.equal(source.apart(0, other, 3).nodes, training(TASKS[0], TSP)(again(), 3).nodes)
    assert set(source.apart(1, other, 6).distance.tolist()) == {1.0}
    assert torch.equal(source.generator.get_state(), before)


def again() -> torch.Generator:
    """Return the other generator at its start."""
    return torch.Generator().manual_seed(1)


def test_random_images_are_drawn_from_the_stream() -> None:
    """Images of the square draw nothing, random ones draw angles."""
    source = stream()
    batch, state = source.batch(0, 0), source.generator.get_state()
    assert torch.equal(source.images(batch).nodes, TSP.augment(batch).nodes)
    assert torch.equal(source.generator.get_state(), state)
    random = attrs.evolve(source, symmetries="random")
    first, second = random.images(batch), random.images(batch)
    assert first.nodes.shape == second.nodes.shape == (32, 5, 2)
    assert not torch.equal(first.nodes[4:], second.nodes[4:])
    source.generator.set_state(state)
    assert torch.equal(random.images(batch).nodes, first.nodes)
