"""The buffer that tasks share equally: its shares, and that each share is a uniform sample."""

from collections import Counter
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import lifelong_co as lco
from lifelong_co.errors import ConfigError
from lifelong_co.replay.class_balanced import Balanced, TaskAware
from lifelong_co.replay.reservoir import Reservoir
from lifelong_co.storage import checkpoint

LEVEL = 0.001  # significance; the seeds are fixed, so a test passes always or never

capacities = st.integers(0, 12)
seeds = st.integers(0, 2**32 - 1)
offers = st.lists(st.integers(0, 40), max_size=6)  # how many items each task offers, in turn


@attrs.frozen
class Item:
    """The ``number``-th of its task."""

    task: int
    number: int


def filled(
    capacity: int, amounts: list[int], seed: int = 0, kind: type[Any] = Balanced
) -> Balanced[Item]:
    """Return a buffer to which one task after another offered its items."""
    buffer: Balanced[Item] = kind(capacity, seed=seed)
    for task, amount in enumerate(amounts):
        for number in range(amount):
            buffer.add(Item(task, number))
    return buffer


@given(capacities, offers, seeds)
def test_tasks_share_equally(capacity: int, amounts: list[int], seed: int) -> None:
    """A task has all its items or as many as any other, less one; no slot stays empty."""
    buffer = filled(capacity, amounts, seed)
    items = list(buffer)
    assert buffer.seen == sum(amounts)
    assert buffer.capacity == capacity
    assert len(buffer) == len(set(items)) == min(capacity, sum(amounts))
    held = Counter(item.task for item in items)
    most = max(held.values(), default=0)
    for task, amount in enumerate(amounts):
        assert held[task] <= amount
        assert held[task] == amount or held[task] >= most - 1


@given(capacities, offers, seeds)
def test_admission_needs_only_the_task_of_an_item(
    capacity: int, amounts: list[int], seed: int
) -> None:
    """`start_task` before `admit` gives the same buffer as `add` of items that hold their task."""
    buffer: Balanced[Item] = Balanced(capacity, seed=seed)
    made = 0
    for task, amount in enumerate(amounts):
        buffer.start_task(task)
        for number in range(amount):
            slot = buffer.admit()
            if slot is not None:
                assert 0 <= slot <= len(buffer)
                assert slot < capacity
                buffer.put(slot, Item(task, number))
                made += 1
    assert made <= buffer.seen == sum(amounts)
    assert list(buffer) == list(filled(capacity, amounts, seed))


@given(capacities, st.integers(0, 60), seeds)
def test_buffer_of_one_task_is_the_reservoir(capacity: int, offered: int, seed: int) -> None:
    """Items without a task are of one task; all draws are those of the reservoir."""
    both: list[Any] = [Balanced(capacity, seed=seed), Reservoir(capacity, seed=seed)]
    for buffer in both:
        for item in range(offered):
            buffer.add(item)
    assert list(both[0]) == list(both[1])
    assert both[0].sample(3) == both[1].sample(3)


def share_p_value(kind: type[Any]) -> float:
    """Return the chi-square p-value of "the paper's six tasks hold equally much".

    They offer as many steps as they have customers: 20, 50 or 100 for each batch.
    """
    held = Counter(item.task for item in filled(60, [500, 1000, 500, 200, 200, 1000], kind=kind))
    return float(stats.chisquare([held[task] for task in range(6)]).pvalue)


def test_large_tasks_get_no_more_than_small_ones() -> None:
    """Six tasks hold ten items each, where a reservoir fails the same test at level 0.001."""
    held = Counter(item.task for item in filled(60, [500, 1000, 500, 200, 200, 1000]))
    assert dict(held) == dict.fromkeys(range(6), 10)
    assert share_p_value(Balanced) > LEVEL
    assert share_p_value(Reservoir) < LEVEL


def test_each_share_is_a_uniform_sample() -> None:
    """Over 5,000 seeds a task's early and late items survive equally often (chi-square, 0.001).

    As `share` of ``N`` items survive each time, counts are correlated by ``-1 / (N - 1)``; divided
    by that covariance, their squared deviations follow a chi-square distribution.
    """
    repeats, amounts, share = 5_000, [9, 12, 7], 3
    survivors: Counter[Item] = Counter()
    for seed in range(repeats):
        survivors.update(filled(9, amounts, seed))
    for task, N in enumerate(amounts):
        counts = [survivors[Item(task, number)] for number in range(N)]
        assert sum(counts) == repeats * share
        chance = share / N
        variance = repeats * chance * (1 - chance) * N / (N - 1)
        statistic = sum((count - repeats * chance) ** 2 for count in counts) / variance
        assert float(stats.chi2.sf(statistic, N - 1)) > LEVEL


@given(capacities, st.lists(st.integers(0, 3), max_size=80), seeds)
def test_tasks_may_come_in_any_order(capacity: int, tasks: list[int], seed: int) -> None:
    """The order may be mixed: a full buffer stays full and never loses the last item of a task.

    Unless there are more tasks than slots, of course.
    """
    buffer: Balanced[Item] = Balanced(capacity, seed=seed)
    for number, task in enumerate(tasks):
        buffer.add(Item(task, number))
        assert len(buffer) == min(number + 1, capacity)
        if capacity >= 4:
            assert {item.task for item in buffer} == set(tasks[: number + 1])


def later(buffer: Balanced[Item]) -> list[Any]:
    """Return what a buffer does next: its random stream seen through offers and samples."""
    events: list[Any] = [list(buffer), buffer.seen, buffer.capacity]
    for task in (buffer.state_dict()["task"], 98, 99):
        buffer.start_task(task)
        for number in range(15):
            slot = buffer.admit()
            if slot is not None:
                buffer.put(slot, Item(task, 1000 + number))
            events += [slot, buffer.sample(3)]
    return events


@given(capacities, offers, seeds)
def test_restored_buffer_continues_the_same_stream(
    capacity: int, amounts: list[int], seed: int
) -> None:
    """A buffer of another capacity, seed and content continues like the first."""
    buffer = filled(capacity, amounts, seed)
    state = buffer.state_dict()
    restored = filled(3, [4, 7], seed=seed + 1)
    restored.load_state_dict(state)
    assert later(restored) == later(buffer)
    again = Balanced[Item](1)
    again.load_state_dict(state)  # which neither of the two has changed
    assert later(again) == later(filled(capacity, amounts, seed))


def test_buffer_survives_a_checkpoint(tmp_path: Path) -> None:
    """The same stream continues after a checkpoint file."""
    buffer: Balanced[Any] = Balanced(5, seed=3)
    for task in range(3):
        buffer.start_task(task)
        for number in range(9):
            buffer.add(100 * task + number)
    restored: Balanced[Any] = Balanced(7)
    restored.load_state_dict(checkpoint.load(checkpoint.save(tmp_path, 0, buffer.state_dict())))
    assert later(restored) == later(buffer)


def test_registered_buffer_asks_for_the_task() -> None:
    """It has a name, capacity and seed like any buffer; the reservoir does not ask."""
    assert isinstance(lco.buffer("balanced", 3, seed=1), Balanced)
    assert isinstance(lco.buffer("balanced", 3), TaskAware)
    assert not isinstance(lco.buffer("reservoir", 3), TaskAware)


def test_negative_size_is_refused() -> None:
    """A negative capacity or sample is refused, and the message has the number."""
    with pytest.raises(
        ConfigError, match=r"capacity: expected a whole number of at least 0, got -1"
    ):
        Balanced[int](-1)
    with pytest.raises(
        ConfigError, match=r"sample size: expected a whole number of at least 0, got -2"
    ):
        filled(3, [3]).sample(-2)
