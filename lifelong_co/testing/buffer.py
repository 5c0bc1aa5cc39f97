"""The check of a buffer, with whole numbers as items."""

import json
from collections.abc import Callable
from typing import Any

import torch

from lifelong_co.protocols import Buffer
from lifelong_co.replay.class_balanced import TaskAware
from lifelong_co.storage.tree import flatten, octets
from lifelong_co.testing.contract import expect, expect_members
from lifelong_co.testing.trial import stored
from lifelong_co.validators import whole

CHECK = "check_buffer"
OFFERS, DRAWS, UNLIKELY = 40, 400, 50
"""With 4 items, 400 draws of one give each item 100 times, with a standard deviation of 9; 200
draws of two do so with one of 7."""


def check_buffer(factory: Callable[[int, int], Buffer[Any]], *, capacity: int = 8) -> None:
    """Check a buffer, as `registry.buffer` makes it.

    - It never holds more than its capacity, which may be 0. It holds only items that were offered,
      and each at most once. ``seen`` counts the offers.
    - Several items may be admitted before the first one is put.
    - ``sample(k)`` returns ``min(k, len)`` different items, uniformly, and changes no item.
    - The seed decides everything. `state_dict` has the items as ``items``, and can be saved in a
      checkpoint. A buffer that loads it goes on exactly like the saved one, which does not change
      it.

    Parameters
    ----------
    factory
        ``(capacity, seed) -> Buffer``, for example ``Newest``.
    capacity
        The capacity of the checked buffers, at least 4.

    Raises
    ------
    ContractError
        If the buffer breaks its contract.
    ConfigError
        If the capacity is below 4.
    """
    whole("capacity", capacity, 4)
    for size in (0, capacity):
        buffer = factory(size, 0)
        expect_members(CHECK, buffer, Buffer)
        expect(buffer.capacity == size, CHECK, f"capacity {size}", buffer.capacity)
        _check_empty(buffer)
        for item in range(OFFERS):
            buffer.add(item)
            _check_content(buffer, range(item + 1))
        _check_samples(buffer)
    _check_several(factory(capacity, 0))
    _check_uniform(factory(4, 0))
    _check_state(factory, capacity)


def _check_empty(buffer: Buffer[Any]) -> None:
    expect(len(buffer) == 0, CHECK, "a new buffer without items", len(buffer))
    expect(buffer.seen == 0, CHECK, "seen = 0 of a new buffer", buffer.seen)
    expect(buffer.sample(3) == [], CHECK, "sample(3) = [] of an empty buffer", buffer.sample(3))


def _check_content(buffer: Buffer[Any], offered: range) -> None:
    count, items = len(offered), list(buffer)
    expect(buffer.seen == count, CHECK, f"seen = {count} after {count} offers", buffer.seen)
    expect(len(buffer) == len(items), CHECK, f"len = {len(items)}, as iterated", len(buffer))
    room = buffer.capacity
    expect(len(items) <= room, CHECK, f"at most capacity = {room} items", len(items))
    expect(room == 0 or bool(items), CHECK, f"an item after {count} offers", "none")
    expect(set(items) <= set(offered), CHECK, "only items that were offered", items)
    expect(len(set(items)) == len(items), CHECK, "each item at most once", items)


def _check_samples(buffer: Buffer[Any]) -> None:
    held = list(buffer)
    for k in (0, 1, len(held), len(held) + 3):
        drawn, count = buffer.sample(k), min(k, len(held))
        expect(len(drawn) == count, CHECK, f"{count} items of sample({k})", len(drawn))
        expect(set(drawn) <= set(held), CHECK, "samples of the items held", drawn)
        expect(len(set(drawn)) == count, CHECK, f"{count} different items of sample({k})", drawn)
    now = list(buffer)
    expect(now == held, CHECK, "the same items after sample", now)


def _check_several(buffer: Buffer[Any]) -> None:
    """Offer items in groups: admit all of a group, then put those that are admitted."""
    for start in range(0, OFFERS, 5):
        admitted = [(buffer.admit(), item) for item in range(start, start + 5)]
        for slot, item in admitted:
            if slot is not None:
                inside = isinstance(slot, int) and 0 <= slot < buffer.capacity
                expect(inside, CHECK, f"slots from 0 to {buffer.capacity - 1}, or None", slot)
                buffer.put(slot, item)
        _check_content(buffer, range(start + 5))


def _check_uniform(buffer: Buffer[Any]) -> None:
    for item in range(OFFERS):
        buffer.add(item)
    held = list(buffer)
    if len(held) == 4:
        for k in (1, 2):
            drawn = [item for _ in range(DRAWS // k) for item in buffer.sample(k)]
            counts = [drawn.count(item) for item in held]
            what = f"each of 4 items about {DRAWS // 4} times in {DRAWS // k} draws of {k}"
            expect(min(counts) >= UNLIKELY, CHECK, what, counts)


def _check_state(factory: Callable[[int, int], Buffer[Any]], capacity: int) -> None:
    first, second = factory(capacity, 1), factory(capacity, 1)
    for item in range(OFFERS):
        for each in (first, second):
            if item == OFFERS // 2 and isinstance(each, TaskAware):
                each.start_task(1)
            each.add(item)
    state = second.state_dict()
    saved = stored(CHECK, state)
    found = state.get("items")
    same = isinstance(found, list) and sorted(found) == sorted(second)
    expect(same, CHECK, 'a state_dict with "items", the list of the items', found)
    what = "the same samples and items from the same seed"
    went_on = _future(first)
    expect(_future(second) == went_on, CHECK, what, "others")
    unchanged = _same(stored(CHECK, state), saved)
    expect(unchanged, CHECK, "a state_dict that later offers do not change", "a changed one")
    restored = factory(capacity, 2)
    restored.load_state_dict(saved)
    expect(restored.seen == OFFERS, CHECK, f"a restored seen = {OFFERS}", restored.seen)
    what = "the same samples and items after load_state_dict"
    expect(_future(restored) == went_on, CHECK, what, "others")


def _same(one: Any, other: Any) -> bool:
    """Return whether a checkpoint has the same bits of two states, in the same order."""
    (first, some), (second, others) = flatten(one), flatten(other)
    bits = zip(map(octets, some), map(octets, others), strict=False)
    return json.dumps(first) == json.dumps(second) and all(torch.equal(*pair) for pair in bits)


def _future(buffer: Buffer[Any]) -> list[Any]:
    """Return what comes of further offers and draws."""
    found: list[Any] = []
    for item in range(OFFERS, 2 * OFFERS):
        buffer.add(item)
        found.append((buffer.sample(2), list(buffer)))
    return found
