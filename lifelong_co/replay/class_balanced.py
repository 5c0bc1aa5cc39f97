"""Reservoir sampling that shares the buffer equally among the tasks (the paper's ablation -Res).

The paper rescales the probabilities of its reservoir "so that the buffered experiences are more
uniformly distributed across tasks" and gives no formula; its tasks then hold 144 to 208 of 1000
slots, small ones more. Ours is class-balancing reservoir sampling (Chrysakis and Moens 2020,
algorithm 1): the shares differ by one at most, once every task was offered its share.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from lifelong_co.replay.reservoir import Reservoir

X = TypeVar("X")


@runtime_checkable
class TaskAware(Protocol):
    """A buffer that needs the task of the items that it admits next.

    Admission comes before an item exists, so the item cannot name its task.
    """

    def start_task(self, task: int) -> None:
        """Set the task of the items that follow."""


class Balanced(Generic[X]):
    """A uniform sample of each task's items, the same number of each.

    Until it is full it takes every item. Then a task that has lost nothing yet and holds fewer
    items than the largest task takes a random slot of the largest. Any other task keeps its slots
    as a reservoir: after ``seen`` offers of a task each of them is equally likely to be held.

    `add` reads the ``task`` of an item. Without one all items are of one task, and this is
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
        If the capacity or the seed is no whole number, or the capacity is negative.
    """

    def __init__(self, capacity: int, seed: int = 0) -> None:
        self._items: Reservoir[X] = Reservoir(capacity, seed)  # holds and samples; admits nothing
        self._random = self._items.random
        self._tasks: list[int] = []  # of the slots
        self._held: Counter[int] = Counter()
        self._offered: Counter[int] = Counter()
        self._task = 0

    @property
    def capacity(self) -> int:
        """The most items it holds."""
        return self._items.capacity

    @property
    def seen(self) -> int:
        """How many items were offered to it so far."""
        return self._offered.total()

    def start_task(self, task: int) -> None:
        """Set the task of the items that follow."""
        self._task = task

    def admit(self) -> int | None:
        """Count one item of the present task; return its slot, or None if it is rejected.

        The slot belongs to the task from now on: several items may be admitted before the first one
        is put.
        """
        slot = self._slot()
        self._offered[self._task] += 1
        if slot is None:
            return None
        if slot == len(self._tasks):
            self._tasks.append(self._task)
        else:
            self._held[self._tasks[slot]] -= 1
            self._tasks[slot] = self._task
        self._held[self._task] += 1
        return slot

    def _slot(self) -> int | None:
        """Return where the next item of the present task goes; None: nowhere."""
        task, held = self._task, self._held[self._task]
        if len(self._tasks) < self.capacity:
            return len(self._tasks)
        most = max(self._held.values(), default=0)
        if held == self._offered[task] and held < most:  # it has lost nothing yet
            largest = sorted(other for other, count in self._held.items() if count == most)
            return self._random.choice(self._slots(self._random.choice(largest)))
        place = self._random.randrange(self._offered[task] + 1)
        return self._slots(task)[place] if place < held else None

    def put(self, slot: int, item: X) -> None:
        """Store an item in the slot that `admit` returned; items come in the order of admission."""
        self._items.put(slot, item)

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
            If ``k`` is negative or no whole number.
        """
        return self._items.sample(k)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[X]:
        return iter(self._items)

    def state_dict(self) -> dict[str, Any]:
        """Return capacity, counters, items with their tasks and the state of the random stream."""
        return {
            **self._items.state_dict(),
            "seen": self.seen,
            "tasks": list(self._tasks),
            "offered": [list(pair) for pair in self._offered.items()],
            "task": self._task,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore `state_dict`."""
        self._items.load_state_dict(state)
        self._tasks = list(state["tasks"])
        self._held = Counter(self._tasks)
        self._offered = Counter(dict(state["offered"]))
        self._task = state["task"]

    def _slots(self, task: int) -> list[int]:
        return [slot for slot, owner in enumerate(self._tasks) if owner == task]
