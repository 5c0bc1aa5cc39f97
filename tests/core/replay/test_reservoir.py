"""The reservoir's invariants, with whole numbers for items."""

import math
import random
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lifelong_co.errors import ConfigError
from lifelong_co.replay.class_balanced import Balanced
from lifelong_co.replay.reservoir import Reservoir
from lifelong_co.storage import checkpoint

LEVEL = 0.001  # significance; the seeds are fixed, so a test passes always or never
REPEATS = 20_000

capacities = st.integers(0, 12)
offers = st.integers(0, 60)
seeds = st.integers(0, 2**32 - 1)


def filled(capacity: int, offered: int, seed: int = 0) -> Reservoir[int]:
    """Return a reservoir that was offered ``0 … offered - 1``."""
    buffer: Reservoir[int] = Reservoir(capacity, seed=seed)
    for item in range(offered):
        buffer.add(item)
    return buffer


def survival_p_value(counts: list[int], repeats: int, capacity: int) -> float:
    """Return the chi-square p-value of "all N items survive equally often".

    In each of the repeats ``capacity`` of the ``N`` items survive, so counts are correlated by
    ``-1 / (N - 1)``; divided by that covariance, their squared deviations follow a chi-square
    distribution with ``N - 1`` degrees of freedom.
    """
    items = len(counts)
    chance = capacity / items
    variance = repeats * chance * (1 - chance) * items / (items - 1)
    statistic = sum((count - repeats * chance) ** 2 for count in counts) / variance
    return float(stats.chi2.sf(statistic, items - 1))


@given(capacities, offers, seeds)
def test_reservoir_never_exceeds_its_capacity(capacity: int, offered: int, seed: int) -> None:
    """After every offer, `seen` counts it and `len` is min(seen, capacity)."""
    buffer: Reservoir[int] = Reservoir(capacity, seed=seed)
    for item in range(offered):
        buffer.add(item)
        assert buffer.seen == item + 1
        assert len(buffer) == min(item + 1, capacity)
    assert buffer.capacity == capacity


@given(capacities, offers, seeds)
def test_reservoir_holds_each_item_at_most_once(capacity: int, offered: int, seed: int) -> None:
    """Its content is a subset of the offered items, and all of them while they fit."""
    items = list(filled(capacity, offered, seed))
    assert len(set(items)) == len(items)
    assert set(items) <= set(range(offered))
    if offered <= capacity:
        assert items == list(range(offered))


@given(capacities, offers, seeds)
def test_adding_equals_admitting_and_putting(capacity: int, offered: int, seed: int) -> None:
    """A caller that makes only admitted items ends with the same buffer."""
    buffer: Reservoir[int] = Reservoir(capacity, seed=seed)
    for item in range(offered):
        slot = buffer.admit()
        if slot is not None:
            assert 0 <= slot <= len(buffer)
            assert slot < capacity
            buffer.put(slot, item)
    assert buffer.seen == offered
    assert list(buffer) == list(filled(capacity, offered, seed))


@pytest.mark.parametrize(("capacity", "offered"), [(1, 7), (5, 6), (5, 20), (9, 40)])
def test_all_items_are_equally_likely_to_survive(capacity: int, offered: int) -> None:
    """Over 20,000 seeds early and late items survive equally often (chi-square, level 0.001)."""
    survivors: Counter[int] = Counter()
    for seed in range(REPEATS):
        survivors.update(filled(capacity, offered, seed))
    counts = [survivors[item] for item in range(offered)]
    assert sum(counts) == REPEATS * capacity
    assert survival_p_value(counts, REPEATS, capacity) > LEVEL


@pytest.mark.parametrize("error", [-1, 1])
def test_survival_test_detects_a_wrong_chance(error: int) -> None:
    """A reservoir with an admission chance that is off by one fails the test."""
    survivors: Counter[int] = Counter()
    stream = random.Random(0)
    for _ in range(REPEATS):
        kept = list(range(5))
        for item in range(5, 20):
            slot = stream.randrange(item + 1 + error)
            if slot < 5:
                kept[slot] = item
        survivors.update(kept)
    assert survival_p_value([survivors[item] for item in range(20)], REPEATS, 5) < LEVEL


def test_every_set_of_survivors_is_equally_likely() -> None:
    """All 20 ways to keep 3 of 6 items come up equally often (chi-square, level 0.001)."""
    kept = Counter(tuple(sorted(filled(3, 6, seed))) for seed in range(REPEATS))
    counts = [kept[subset] for subset in combinations(range(6), 3)]
    assert sum(counts) == REPEATS
    assert stats.chisquare(counts).pvalue > LEVEL


@given(capacities, offers, st.integers(0, 80), seeds)
def test_sample_holds_no_item_twice(capacity: int, offered: int, k: int, seed: int) -> None:
    """A sample has min(k, len) different items; the buffer does not change."""
    buffer = filled(capacity, offered, seed)
    before = list(buffer)
    sample = buffer.sample(k)
    assert len(sample) == min(k, len(buffer))
    assert len(set(sample)) == len(sample)
    assert set(sample) <= set(before)
    assert list(buffer) == before
    assert buffer.seen == offered


def test_every_sample_is_equally_likely() -> None:
    """All 10 pairs out of 5 items are drawn equally often (chi-square, level 0.001)."""
    buffer = filled(5, 5)
    drawn = Counter(tuple(sorted(buffer.sample(2))) for _ in range(REPEATS))
    counts = [drawn[pair] for pair in combinations(range(5), 2)]
    assert sum(counts) == REPEATS
    assert stats.chisquare(counts).pvalue > LEVEL


def test_sample_larger_than_the_buffer_is_the_whole_buffer() -> None:
    """Every item comes once; an empty buffer gives none."""
    assert sorted(filled(4, 3).sample(10)) == [0, 1, 2]
    assert sorted(filled(3, 50).sample(3)) == sorted(filled(3, 50))
    assert Reservoir[int](4).sample(10) == []
    assert filled(4, 3).sample(0) == []


def test_capacity_zero_counts_and_keeps_nothing() -> None:
    """The buffer still counts, but admits and samples nothing."""
    buffer = filled(0, 10)
    assert buffer.seen == 10
    assert len(buffer) == 0
    assert list(buffer) == []
    assert buffer.admit() is None
    assert buffer.seen == 11
    assert buffer.sample(3) == []


def test_capacity_one_holds_exactly_one() -> None:
    """From the first offer on, the buffer holds one of the offered items."""
    assert list(filled(1, 1)) == [0]
    assert {next(iter(filled(1, 4, seed))) for seed in range(100)} == {0, 1, 2, 3}
    assert len(filled(1, 100)) == 1


def later(buffer: Reservoir[int]) -> list[Any]:
    """Return what a buffer does next: its random stream seen through offers and samples."""
    events: list[Any] = [list(buffer), buffer.seen, buffer.capacity]
    for item in range(1000, 1030):
        buffer.add(item)
        events += [list(buffer), buffer.sample(3)]
    return events


@given(capacities, offers, seeds)
def test_restored_buffer_continues_the_same_stream(capacity: int, offered: int, seed: int) -> None:
    """A buffer of another capacity, seed and content continues like the first."""
    buffer = filled(capacity, offered, seed)
    restored = filled(3, 10, seed=seed + 1)
    restored.load_state_dict(buffer.state_dict())
    assert later(restored) == later(buffer)


@pytest.mark.parametrize(("capacity", "offered"), [(0, 5), (1, 1), (5, 3), (5, 100)])
def test_buffer_survives_a_checkpoint(tmp_path: Path, capacity: int, offered: int) -> None:
    """The same stream continues after a checkpoint file."""
    buffer = filled(capacity, offered)
    path = checkpoint.save(tmp_path, 0, buffer.state_dict())
    restored: Reservoir[int] = Reservoir(7, seed=1)
    restored.load_state_dict(checkpoint.load(path))
    assert later(restored) == later(buffer)


def test_state_is_a_snapshot() -> None:
    """Later items, also in a restored buffer, do not change the state."""
    buffer = filled(4, 4)
    state = buffer.state_dict()
    restored: Reservoir[int] = Reservoir(4)
    restored.load_state_dict(state)
    later(buffer)
    later(restored)
    assert list(state["items"]) == [0, 1, 2, 3]
    again: Reservoir[int] = Reservoir(4)
    again.load_state_dict(state)
    assert later(again) == later(filled(4, 4))


def test_items_can_have_any_type() -> None:
    """Items are never compared, so tensors and unhashable items are accepted."""
    items: list[Any] = [torch.zeros(2), [1], {"a": 1}, None]
    buffer: Reservoir[Any] = Reservoir(4)
    for item in items:
        buffer.add(item)
    assert [id(item) for item in buffer] == [id(item) for item in items]
    assert {id(item) for item in buffer.sample(4)} == {id(item) for item in items}


def test_seed_decides_what_is_kept() -> None:
    """The same seed repeats a run, another seed does not."""
    assert later(filled(5, 50, seed=3)) == later(filled(5, 50, seed=3))
    assert later(filled(5, 50, seed=3)) != later(filled(5, 50, seed=4))


@pytest.mark.parametrize("made", [Reservoir, Balanced])
@pytest.mark.parametrize("wrong", [2.5, np.float64(3.7), math.nan, True, "5", None])
def test_number_that_is_not_whole_is_refused(made: Any, wrong: Any) -> None:
    """A buffer of capacity 2.5 would hold 3 items; one without a seed would not repeat."""
    for options in ((wrong,), (4, wrong)):
        with pytest.raises(ConfigError, match=r"buffer (capacity|seed): expected a whole number"):
            made(*options)
    with pytest.raises(ConfigError, match="sample size: expected a whole number"):
        made(4).sample(wrong)
    assert made(np.int64(4), np.int64(1)).capacity == 4


def test_negative_size_is_refused() -> None:
    """A negative capacity or sample is refused, and the message has the number."""
    with pytest.raises(
        ConfigError, match=r"capacity: expected a whole number of at least 0, got -1"
    ):
        Reservoir[int](-1)
    with pytest.raises(
        ConfigError, match=r"sample size: expected a whole number of at least 0, got -2"
    ):
        filled(3, 3).sample(-2)
