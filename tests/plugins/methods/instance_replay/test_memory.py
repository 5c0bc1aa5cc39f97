"""The memory of past instances: what it keeps, and what it samples."""

from collections import Counter
from pathlib import Path
from typing import Any

import torch
from lifelong_co_plugins.methods.instance_replay.memory import InstanceMemory
from scipy import stats
from tiny_runs import begun, longer, parameters, same, tiny_config, tiny_learn

import lifelong_co as lco


def labelled(labels: range) -> Any:
    """Return instances whose coordinates all are their label."""
    nodes = torch.tensor([float(label) for label in labels])[:, None, None].expand(-1, 3, 2)
    return lco.problem("tsp").instances(nodes=nodes / 1000)


def labels(instances: Any) -> list[int]:
    """Undo `labelled`."""
    return [round(1000 * float(x)) for x in instances.nodes[:, 0, 0]]


def test_reservoir_of_each_task_is_uniform(tmp_path: Path) -> None:
    """Of 12 instances in 4 batches 5 are held, each equally often (chi-square, level 0.001)."""
    held: Counter[tuple[int, int]] = Counter()
    repeats = 400
    run = begun(tmp_path, longer("li-inter", 2))
    for seed in range(repeats):
        run.learner.seed = seed
        memory = InstanceMemory(5)
        for task in (0, 1):
            run.learner.task = task
            for first in range(0, 12, 3):
                memory.offer(run.learner, labelled(range(first, first + 3)))
            found = [label for item in memory.reservoirs[task] for label in labels(item)]
            assert len(set(found)) == 5
            held.update((task, label) for label in found)
    for task in (0, 1):
        counts = [held[task, label] for label in range(12)]
        # Draws without replacement vary less than independent ones, by (12 - 5) / 11.
        statistic = sum((c - repeats * 5 / 12) ** 2 for c in counts) / (repeats * 5 / 12)
        assert stats.chi2.sf(statistic * 11 / 7, df=11) > 0.001
    # Of two tasks' reservoirs neither follows the other.
    assert any(held[0, label] != held[1, label] for label in range(12))


def test_several_processes_share_the_capacity(tmp_path: Path) -> None:
    """Each of three processes holds four instances of ten, also when restored."""
    run = begun(tmp_path, longer("li-inter", 2))
    run.learner.processes = 3
    memory, again = InstanceMemory(10), InstanceMemory(10)
    memory.offer(run.learner, labelled(range(12)))
    assert len(list(memory.reservoirs[0])) == 4
    again.load_state_dict(run.learner, memory.state_dict())
    again.offer(run.learner, labelled(range(12, 24)))
    assert len(list(again.reservoirs[0])) == 4


def test_samples_are_uniform_and_repeatable(tmp_path: Path) -> None:
    """Instances of a batch differ, are the same at the same step, and uniform over many steps."""
    run = begun(tmp_path, longer("li-inter", 2))
    learner, memory = run.learner, InstanceMemory(6)
    assert memory.sample(learner, 0) is None
    memory.offer(learner, labelled(range(6)))
    learner.task = 1
    counts: Counter[int] = Counter()
    for learner.batch in range(600):
        found = labels(memory.sample(learner, 0))
        assert len(set(found)) == learner.tasks[0].batch_size == 2
        counts.update(found)
    assert labels(memory.sample(learner, 0)) == found
    statistic = sum((counts[label] - 200) ** 2 for label in range(6)) / 200
    assert stats.chi2.sf(statistic * 5 / 4, df=5) > 0.001


def test_task_of_several_sizes_is_sampled_by_size(tmp_path: Path) -> None:
    """Each batch has one size; a checkpoint keeps the instances and their places."""
    run = begun(tmp_path, longer("li-inter", 2))
    learner, memory = run.learner, InstanceMemory(10)
    for size in (3, 4, 3):
        memory.offer(learner, lco.problem("tsp").instances(nodes=torch.rand(2, size, 2)))
    learner.task, sizes = 1, Counter()
    for learner.batch in range(200):
        sizes[memory.sample(learner, 0).nodes.shape[1]] += 1
    assert 100 < sizes[3] < 165  # two of three are of size 3
    fresh = InstanceMemory(10)
    fresh.load_state_dict(learner, memory.state_dict())
    (old,), (new,) = memory.reservoirs, fresh.reservoirs
    assert len(new) == 6
    assert all(torch.equal(a.nodes, b.nodes) for a, b in zip(old, new, strict=True))


def test_without_a_buffer_nothing_is_replayed(tmp_path: Path) -> None:
    """With weight 0, too, the method is fine-tuning to the bit."""
    plain = tiny_learn(tiny_config("fine-tuning"), tmp_path / "plain")
    for method in ("li-inter", "li-intra", "feng"):
        config = tiny_config(method, buffer_size=0, alpha=0.0)
        assert same(parameters(tiny_learn(config, tmp_path / method)), parameters(plain))


def test_places_alike_follow_what_is_held(tmp_path: Path) -> None:
    """They are counted again after the task has offered instances, and after a restart."""
    run = begun(tmp_path, longer("li-inter", 2))
    memory, again = InstanceMemory(10), InstanceMemory(10)
    memory.offer(run.learner, labelled(range(2)))
    assert memory.alike(0) == [[0, 1]] * 2
    larger = lco.problem("tsp").instances(nodes=torch.rand(2, 4, 2))
    memory.offer(run.learner, larger)
    assert memory.alike(0) == [[0, 1], [0, 1], [2, 3], [2, 3]]
    again.offer(run.learner, larger)
    assert again.alike(0) == [[0, 1]] * 2
    again.load_state_dict(run.learner, memory.state_dict())
    assert again.alike(0) == memory.alike(0)
