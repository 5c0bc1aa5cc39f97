"""Reservoir sampling (Vitter 1985, algorithm R; paper §3.1)."""

import random
from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

from lifelong_co.seeding import restore
from lifelong_co.validators import whole

X = TypeVar("X")


class Reservoir(Generic[X]):
    """A uniform sample, of fixed size, of everything offered so far.

    After ``seen`` offers every one of them is held with probability ``min(1, capacity / seen)``.

    Parameters
    ----------
    capacity
        The most items held, at least 0.
    seed
        Seed of the stream that decides admissions and samples.

    Raises
    ------
    ConfigError
        If the capacity or the seed is no whole number, or the capacity is negative.
    """

    def __init__(self, capacity: int, seed: int = 0) -> None:
        self._capacity = whole("buffer capacity", capacity, 0)
        self.random = random.Random(whole("buffer seed", seed))
        """The stream that decides admissions and samples."""
        self._items: list[X] = []
        self._seen = 0

    @property
    def capacity(self) -> int:
        """The most items it holds."""
        return self._capacity

    @property
    def seen(self) -> int:
        """How many items were offered to it so far."""
        return self._seen

    def admit(self) -> int | None:
        """Count one item as offered; return the slot to `put` it in, or None if it is rejected.

        An experience is made only if it is admitted, so a rejected one costs nothing. Several items
        may be admitted before the first one is put, so slots follow from the number of offers.
        """
        offer = self._seen
        self._seen += 1
        if offer < self._capacity:
            return offer
        slot = self.random.randrange(self._seen)
        return slot if slot < self._capacity else None

    def put(self, slot: int, item: X) -> None:
        """Store an item in the slot that `admit` returned; items come in the order of admission."""
        if slot == len(self._items):
            self._items.append(item)
        else:
            self._items[slot] = item

    def add(self, item: X) -> None:
        """Offer an item."""
        slot = self.admit()
        if slot is not None:
            self.put(slot, item)

    def sample(self, k: int) -> list[X]:
        """Return ``min(k, len)`` items drawn uniformly without replacement.

        Raises
        ------
        ConfigError
            If ``k`` is negative or no whole number.
        """
        count = min(whole("sample size", k, 0), len(self._items))
        return self.random.sample(self._items, count)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, place: int) -> X:
        return self._items[place]

    def __iter__(self) -> Iterator[X]:
        return iter(self._items)

    def state_dict(self) -> dict[str, Any]:
        """Return capacity, counters, items and the state of the random stream."""
        return {
            "capacity": self._capacity,
            "seen": self._seen,
            "items": list(self._items),
            "random": self.random.getstate(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore `state_dict`."""
        self._capacity = state["capacity"]
        self._seen = state["seen"]
        self._items = list(state["items"])
        restore(self.random, state["random"])
