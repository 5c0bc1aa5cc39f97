"""Instances of past tasks: one reservoir per seen task (paper, appendix "Baselines")."""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lifelong_co.protocols import LearnerState
from lifelong_co.replay.reservoir import Reservoir
from lifelong_co.seeding import python_seed
from lifelong_co.tensors import records
from lifelong_co.tensors.heap import CopyThread
from lifelong_co.tensors.modules import device_of


class InstanceMemory:
    """A uniform sample of the training instances of each seen task.

    Parameters
    ----------
    capacity
        Instances held per task, at least 0. Several processes each hold a share, rounded up.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._thread = CopyThread()
        self.reservoirs: list[Reservoir[Any]] = []
        self._alike: dict[int, list[list[int]]] = {}
        """For each place of a task the places of instances of the same shape."""

    def draw(self, learner: LearnerState) -> Any:
        """Return a new batch of the present task, which is offered to its reservoir."""
        batch = learner.draw(learner.task)
        self.offer(learner, batch)
        return batch

    def offer(self, learner: LearnerState, batch: Any) -> None:
        """Offer every instance of a batch to the present task's reservoir."""
        while len(self.reservoirs) <= learner.task:
            seed = python_seed(learner.seed, f"instance reservoir {len(self.reservoirs)}")
            self.reservoirs.append(Reservoir(per_process(self.capacity, learner), seed))
        reservoir = self.reservoirs[learner.task]
        taken: dict[int, Any] = {}  # by slot: the last one that takes it
        for row in range(records.rows(batch)):
            slot = reservoir.admit()
            if slot is not None:
                taken[slot] = records.select(batch, slice(row, row + 1))
        self._alike.pop(learner.task, None)
        # Copies: a view would keep the whole batch alive.
        copies = self._thread.copies([records.tensors(one) for one in taken.values()])
        for slot, copy in zip(taken, copies, strict=True):
            reservoir.put(slot, type(batch)(**copy))

    def sample(self, learner: LearnerState, task: int) -> Any | None:
        """Return a batch of a past task, or None if no instance of it is held; see `places`."""
        found = self.places(learner, task)
        return self.take(task, found) if found else None

    def take(self, task: int, places: Sequence[int]) -> Any:
        """Return the held instances of a task at these places, of one size, as a batch."""
        held = self.reservoirs[task]
        return records.concatenate([held[place] for place in places])

    def places(self, learner: LearnerState, task: int, share: float = 1.0) -> list[int]:
        """Return the places of a batch among the held instances of a past task.

        Instances are drawn without replacement: as many as the batch size of the task, or all that
        are held. If a task has instances of several sizes, the size is drawn first. The random
        stream follows from the seed, task, epoch and batch, so no stream has to be saved.
        """
        if task >= len(self.reservoirs) or not len(self.reservoirs[task]):
            return []
        place = f"{learner.task} {learner.epoch} {learner.batch} {task}"
        stream = random.Random(python_seed(learner.seed, f"replayed instances {place}"))
        alike = stream.choice(self.alike(task))
        k = min(max(1, round(share * learner.tasks[task].batch_size)), len(alike))
        return stream.sample(alike, k)

    def alike(self, task: int) -> list[list[int]]:
        """Return for each place the places of instances of its shape; counted once for a task."""
        if task not in self._alike:
            groups = by_shape(self.reservoirs[task]).values()
            group_of = {place: group for group in groups for place in group}
            self._alike[task] = [group_of[place] for place in range(len(group_of))]
        return self._alike[task]

    def state_dict(self) -> dict[str, Any]:
        """Return the state of all reservoirs, with instances of one shape as one batch."""
        states = [reservoir.state_dict() for reservoir in self.reservoirs]
        return {"reservoirs": [{**each, "items": pack(each["items"])} for each in states]}

    def load_state_dict(self, learner: LearnerState, state: Mapping[str, Any]) -> None:
        """Restore `state_dict`."""
        self.reservoirs, self._alike = [], {}
        for each in state["reservoirs"]:
            reservoir: Reservoir[Any] = Reservoir(per_process(self.capacity, learner))
            reservoir.load_state_dict({**each, "items": unpack(each["items"], learner)})
            self.reservoirs.append(reservoir)


def per_process(capacity: int, learner: LearnerState) -> int:
    """Return how much of a capacity each process holds, rounded up."""
    return math.ceil(capacity / learner.processes)


def shape(instances: Any) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of an instance's tensors; equal shapes fit one batch."""
    return tuple(tuple(tensor.shape[1:]) for tensor in records.tensors(instances).values())


def by_shape(items: Iterable[Any]) -> dict[Any, list[int]]:
    """Return the places of single instances by their `shape`, in the order of the places."""
    places: dict[Any, list[int]] = {}
    for place, item in enumerate(items):
        places.setdefault(shape(item), []).append(place)
    return places


def pack(items: list[Any]) -> list[dict[str, Any]]:
    """Return single instances as one batch per shape, with the places of its rows in the list."""
    return [
        {"places": at, "fields": records.tensors(records.concatenate([items[i] for i in at]))}
        for at in by_shape(items).values()
    ]


def unpack(packed: list[Mapping[str, Any]], learner: LearnerState) -> list[Any]:
    """Undo `pack`."""
    items: dict[int, Any] = {}
    for group in packed:
        batch = learner.problem.instances_type(**group["fields"])
        batch = records.to(batch, device_of(learner.solver.module))
        for row, place in enumerate(group["places"]):
            items[place] = records.select(batch, slice(row, row + 1))
    return [items[place] for place in range(len(items))]
