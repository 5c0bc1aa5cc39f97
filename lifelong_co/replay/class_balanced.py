"""Reservoir sampling that shares the buffer equally among the tasks (the paper's ablation -Res).

The paper rescales the probabilities of its reservoir "so that the buffered experiences are more
uniformly distributed across tasks" and gives no formula; its tasks then hold 144 to 208 of 1000
slots, small ones more. Ours is class-balancing reservoir sampling (Chrysakis and Moens 2020,
algorithm 1): the shares differ by one at most, once every task was offered its share.
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from lifelong_co.errors import ConfigError

X = TypeVar("X")


@runtime_checkable
class TellsTasksApart(Protocol):
    """A buffer that wants to know of which task the items are that it admits next.

    Admission is decided before an item exists, so the item cannot say.
    """

    def start_task(self, task: int) -> None:
        """Say that items of this task follow."""


class Balanced(Generic[X]):
    """A uniform sample of each task's items, the same number of each.

    Until it is full it takes everything. Then a task that has lost nothing yet and holds fewer
    than the largest one takes a random slot of the largest; any other keeps what it has as a
    reservoir of its own: after ``seen`` offers of a task each of them is equally likely to be held.

    Items that have a ``task`` say so to `add`; without one all are of one task, and this is
    `Reservoir`.

    Parameters
    ----------
    capacity
        The most items held, at least 0.
    seed
        Seed of the stream that decides admissions and samples.

    Raises
    ------
    ConfigError
        If the capacity is negative.
    """

    def __init__(self, capacity: int, seed: int = 0) -> None:
        if capacity < 0:
            raise ConfigError(f"buffer capacity: expected at least 0, got {capacity}")
        self._capacity = capacity
        self._random = random.Random(seed)
        self._items: list[X] = []
        self._tasks: list[int] = []  # of the items
        self._held: Counter[int] = Counter()
        self._offered: Counter[int] = Counter()
        self._task = 0

    @property
    def capacity(self) -> int:
        """The most items it holds."""
        return self._capacity

    @property
    def seen(self) -> int:
        """How many items were offered to it so far."""
        return self._offered.total()

    def start_task(self, task: int) -> None:
        """Say that items of this task follow."""
        self._task = task

    def admit(self) -> int | None:
        """Count one item of the present task; return its slot, or None when it is rejected."""
        task, held = self._task, self._held[self._task]
        complete = held == self._offered[task]
        self._offered[task] += 1
        if len(self._items) < self._capacity:
            return len(self._items)
        most = max(self._held.values(), default=0)
        if complete and held < most:
            largest = sorted(other for other, count in self._held.items() if count == most)
            return self._random.choice(self._slots(self._random.choice(largest)))
        place = self._random.randrange(self._offered[task])
        return self._slots(task)[place] if place < held else None

    def put(self, slot: int, item: X) -> None:
        """Store an item of the present task in the slot that `admit` has just given."""
        if slot == len(self._items) < self._capacity:
            self._items.append(item)
            self._tasks.append(self._task)
        else:
            self._held[self._tasks[slot]] -= 1
            self._items[slot], self._tasks[slot] = item, self._task
        self._held[self._task] += 1

    def add(self, item: X) -> None:
        """Offer an item; its ``task``, if it has one, becomes the present one."""
        self.start_task(getattr(item, "task", self._task))
        slot = self.admit()
        if slot is not None:
            self.put(slot, item)

    def sample(self, k: int) -> list[X]:
        """Return ``min(k, len)`` items drawn uniformly without replacement.

        Raises
        ------
        ConfigError
            If ``k`` is negative.
        """
        if k < 0:
            raise ConfigError(f"sample size: expected at least 0, got {k}")
        return self._random.sample(self._items, min(k, len(self._items)))

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[X]:
        return iter(self._items)

    def state_dict(self) -> dict[str, Any]:
        """Return capacity, counters, items with their tasks and the state of the random stream."""
        return {
            "capacity": self._capacity,
            "seen": self.seen,
            "items": list(self._items),
            "tasks": list(self._tasks),
            "offered": [list(pair) for pair in self._offered.items()],
            "task": self._task,
            "random": self._random.getstate(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore `state_dict`."""
        version, internal, gauss = state["random"]
        self._capacity = state["capacity"]
        self._items = list(state["items"])
        self._tasks = list(state["tasks"])
        self._held = Counter(self._tasks)
        self._offered = Counter(dict(state["offered"]))
        self._task = state["task"]
        self._random.setstate((version, tuple(internal), gauss))

    def _slots(self, task: int) -> list[int]:
        return [slot for slot, owner in enumerate(self._tasks) if owner == task]
