"""`check_buffer` passes the shipped buffers and names the fault of a wrong one."""

import math
from typing import Any

import pytest
import torch
from contract_faults import assert_named

import lifelong_co as lco
from lifelong_co import registry, testing
from lifelong_co.replay.class_balanced import Balanced
from lifelong_co.replay.reservoir import Reservoir


class NoSeen(Reservoir[Any]):
    """Counts only what it admits."""

    @property
    def seen(self) -> int:
        """The items held."""
        return len(self)


class Grows(Reservoir[Any]):
    """Holds one item more than its capacity."""

    def add(self, item: Any) -> None:
        """Append it."""
        super().add(item)
        if len(self._items) == self.capacity > 0:
            self._items.append(-1)


class Twice(Reservoir[Any]):
    """Puts an item at every slot."""

    def put(self, slot: int, item: Any) -> None:  # noqa: ARG002
        """Replace all."""
        self._items = [item] * min(self.seen, self.capacity)


class Invents(Reservoir[Any]):
    """Stores another item."""

    def put(self, slot: int, item: Any) -> None:
        """Add 1000."""
        super().put(slot, item + 1000)


class ForgetsTask(Balanced[Any]):
    """Does not save the present task."""

    def load_state_dict(self, state: Any) -> None:
        """Restore all but the task."""
        super().load_state_dict({**state, "task": 0})


class WithReplacement(Reservoir[Any]):
    """Draws an item more than once."""

    def sample(self, k: int) -> list[Any]:
        """Draw with replacement."""
        k = min(k, len(self))
        return self.random.choices(self._items, k=k) if k else []


class FirstOfMany(Reservoir[Any]):
    """Draws one item at random, but more in order."""

    def sample(self, k: int) -> list[Any]:
        """Return the first ones."""
        return super().sample(k) if k < 2 else self._items[:k]


class Short(Reservoir[Any]):
    """Returns at most two items."""

    def sample(self, k: int) -> list[Any]:
        """Draw too few."""
        return super().sample(k)[:2]


class Consumes(Reservoir[Any]):
    """Loses what is drawn."""

    def sample(self, k: int) -> list[Any]:
        """Draw and remove."""
        drawn = super().sample(k)
        self._items = [item for item in self._items if item not in drawn]
        return drawn


class Newest(Reservoir[Any]):
    """Prefers the last item."""

    def sample(self, k: int) -> list[Any]:
        """Draw the last ones."""
        return self._items[len(self._items) - min(k, len(self)) :]


class Slots(Reservoir[Any]):
    """Counts its slots from its capacity on."""

    def admit(self) -> int | None:
        """Return a slot that is too high."""
        slot = super().admit()
        return None if slot is None else slot + self.capacity

    def put(self, slot: int, item: Any) -> None:
        """Put the item where it belongs."""
        super().put(slot - self.capacity, item)


class Unseeded(Reservoir[Any]):
    """Has another stream in each buffer."""

    made = 0

    def __init__(self, capacity: int, seed: int = 0) -> None:
        Unseeded.made += 1
        super().__init__(capacity, seed + Unseeded.made)


class Forgets(Reservoir[Any]):
    """Does not restore its random stream."""

    def load_state_dict(self, state: Any) -> None:
        """Restore the items."""
        stream = self.random.getstate()
        super().load_state_dict(state)
        self.random.setstate(stream)


class Aliases(Reservoir[Any]):
    """Saves the list that it goes on changing."""

    def state_dict(self) -> dict[str, Any]:
        """Return the list itself."""
        return {**super().state_dict(), "items": self._items}


class Reorders(Reservoir[Any]):
    """Saves a dict whose order it goes on changing."""

    def __init__(self, capacity: int, seed: int = 0) -> None:
        super().__init__(capacity, seed)
        self.last = dict.fromkeys(("odd", "even"))

    def put(self, slot: int, item: Any) -> None:
        """Note whether the last item is odd."""
        super().put(slot, item)
        parity = "odd" if item % 2 else "even"
        self.last[parity] = self.last.pop(parity)

    def state_dict(self) -> dict[str, Any]:
        """Return the dict itself."""
        return {**super().state_dict(), "last": self.last}


class Remembers(Reservoir[Any]):
    """Saves a tensor and a number that is NaN."""

    def state_dict(self) -> dict[str, Any]:
        """Add both."""
        return {**super().state_dict(), "best": math.nan, "mean": torch.tensor([math.nan, 2.0])}


class Unsaved(Reservoir[Any]):
    """Saves an object."""

    def state_dict(self) -> dict[str, Any]:
        """Return the stream itself."""
        return {**super().state_dict(), "random": self.random}


class Renamed(Reservoir[Any]):
    """Calls its items otherwise."""

    def state_dict(self) -> dict[str, Any]:
        """Return them as ``held``."""
        state = super().state_dict()
        return {"held": state.pop("items"), **state}

    def load_state_dict(self, state: Any) -> None:
        """Restore them."""
        super().load_state_dict({**state, "items": state["held"]})


class Capacity(Reservoir[Any]):
    """Says another capacity."""

    @property
    def capacity(self) -> int:
        """One more."""
        return self._capacity + 1


class Begins(Reservoir[Any]):
    """Holds an item from the start."""

    def __init__(self, capacity: int, seed: int = 0) -> None:
        super().__init__(capacity, seed)
        self._items = [7]


MUTANTS: dict[str, tuple[str, Any]] = {
    "capacity": ("capacity 0, got 1", Capacity),
    "begins with one": ("a new buffer without items", Begins),
    "seen": ("seen = 1 after 1 offers", NoSeen),
    "grows": ("at most capacity = 8 items, got 9", Grows),
    "twice": ("each item at most once", Twice),
    "invents": ("only items that were offered", Invents),
    "short": ("8 items of sample(8), got 2", Short),
    "with replacement": ("8 different items of sample(8)", WithReplacement),
    "consumes": ("of sample(", Consumes),
    "slots": ("slots from 0 to 7, or None", Slots),
    "not uniform": ("each of 4 items about 100 times in 400 draws of 1", Newest),
    "not uniform in pairs": ("each of 4 items about 100 times in 200 draws of 2", FirstOfMany),
    "unseeded": ("from the same seed", Unseeded),
    "forgets": ("after load_state_dict", Forgets),
    "forgets the task": ("after load_state_dict", ForgetsTask),
    "aliases": ("that later offers do not change", Aliases),
    "reorders": ("that later offers do not change", Reorders),
    "unsaved": ("a state_dict that can be saved", Unsaved),
    "renamed": ('a state_dict with "items", the list of the items, got None', Renamed),
}


@pytest.mark.parametrize("name", registry.names("buffer"))
def test_shipped_buffer_passes(name: str) -> None:
    """The reservoir and the balanced buffer keep the contract."""
    testing.check_buffer(lambda capacity, seed: lco.buffer(name, capacity=capacity, seed=seed))


@pytest.mark.parametrize("mutant", MUTANTS)
def test_fault_of_a_buffer_is_named(mutant: str) -> None:
    """One line says what is wrong."""
    says, factory = MUTANTS[mutant]
    assert_named(says, testing.check_buffer, factory)


def test_missing_member_is_named() -> None:
    """A list is no buffer."""
    with pytest.raises(testing.ContractError, match="without capacity, seen, admit"):
        testing.check_buffer(lambda capacity, seed: [])  # noqa: ARG005


def test_capacity_is_at_least_four() -> None:
    """With less, a buffer that loses its items would pass."""
    with pytest.raises(lco.ConfigError, match="capacity: expected a whole number of at least 4"):
        testing.check_buffer(lambda size, seed: lco.buffer("reservoir", size, seed), capacity=0)


def test_state_may_have_tensors_and_nan() -> None:
    """They are compared by their bits."""
    testing.check_buffer(Remembers)
