"""The buffer of a method that replays, and what a task sees of it."""

import random
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

import torch
from torch import Tensor

from lifelong_co import registry
from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.protocols import Buffer, LearnerState, Observer
from lifelong_co.replay.class_balanced import TellsTasksApart
from lifelong_co.replay.experience import PackedExperience
from lifelong_co.seeding import python_seed
from lifelong_co_plugins.methods.experience_replay.behaviors import count
from lifelong_co_plugins.methods.experience_replay.bundles import (
    Unit,
    experiences,
    foreign,
    recorder,
    units_from_plain,
    units_of,
    units_to_plain,
)
from lifelong_co_plugins.methods.experience_replay.heap import Apart

AUnit = TypeVar("AUnit", bound=Unit)

# The task of experiences that come from another run.
ADOPTED = -1
# When experiences are offered to the buffer.
WHEN = ("last-epoch", "every-epoch", "always")


class Memory:
    """The buffer, and the snapshot of it that the present task replays.

    Parameters
    ----------
    kind, capacity
        A registered buffer and its size, in steps or solutions.
    when
        ``last-epoch`` records the last epoch of every task, when the solver knows it best;
        ``every-epoch`` all of them. ``always`` does, too, and replays the buffer as it is, so that
        nothing depends on where a task begins or ends.
    unit, bundle_size
        ``step``, alone or so many in a bundle, or ``solution``; see `units`.

    Raises
    ------
    UnknownNameError
        If there is no such buffer, unit or time to record.
    """

    def __init__(
        self,
        kind: str,
        capacity: int,
        when: str = "last-epoch",
        unit: str = "step",
        bundle_size: int = 1,
    ) -> None:
        if when not in WHEN:
            raise UnknownNameError("record", when, WHEN)
        self.kind = kind
        self.capacity = units_of(capacity, unit, bundle_size)
        self.when = when
        self.unit = unit
        self.bundle_size = bundle_size
        self.record = recorder(unit, bundle_size)
        self.apart = Apart()
        self.recorded: list[PackedExperience] = []
        """What the last rollout has recorded, until it is settled."""
        self.buffer: Buffer[Any] = registry.buffer(kind, self.capacity)
        self.snapshot: list[Any] = []
        self.adopted: list[Unit] = []
        self.random = random.Random()

    def adopt(self, learner: LearnerState, state: Mapping[str, Any]) -> None:
        """Offer another run's experiences to the buffer before the first task.

        They are states of the problem, not of the network: any solver's will do. Each is one offer
        to the buffer, however many it was chosen from.

        Raises
        ------
        ConfigError
            If there are none.
        """
        if "buffer" not in state:
            raise ConfigError("expected a run with a buffer, got one without")
        if not state["buffer"]["items"]:
            raise ConfigError(
                "expected a run that has recorded experiences, got an empty buffer (it is filled "
                "in the last epoch of a task)"
            )
        units = units_from_plain(state["buffer"]["items"], learner.problem, device_of(learner))
        self.adopted = foreign(units, self.unit, self.bundle_size, ADOPTED)

    def start_task(self, learner: LearnerState) -> None:
        """Take the snapshot; seed everything before the first task."""
        if learner.task == 0:
            seed = python_seed(learner.seed, "buffer")
            self.buffer = registry.buffer(self.kind, self.capacity, seed=seed)
            self.random.seed(python_seed(learner.seed, "replay"))
            for unit in self.adopted:
                self.buffer.add(unit)
        if isinstance(self.buffer, TellsTasksApart):
            self.buffer.start_task(learner.task)
        self.snapshot = [] if self.when == "always" else list(self.buffer)

    def observer(self, learner: LearnerState, instances: Any) -> Observer | None:
        """Return what records a rollout on these instances, if it is to be recorded."""
        self.settle()
        if self.when == "last-epoch" and not learner.last_epoch:
            return None
        return self.record(self.buffer, learner.task, instances, self.recorded)

    def settle(self) -> None:
        """Pack what the last rollout has recorded, where the heap does not grow by it.

        Here and not step by step, as it is four times as fast at one go.
        """
        copies = self.apart.copies([unit.packed for unit in self.recorded])
        for unit, copy in zip(self.recorded, copies, strict=True):
            unit.tensors.update(copy)
        self.recorded.clear()

    def sample(self, k: int) -> list[Any]:
        """Return ``min(k, len)`` units of what is replayed, in random order."""
        held = list(self.buffer) if self.when == "always" else self.snapshot
        return self.random.sample(held, min(k, len(held)))

    def portions(
        self, units: Iterable[AUnit], fraction: float
    ) -> Iterator[tuple[AUnit, Tensor | slice]]:
        """Yield units and the instances of each to replay, drawn at random.

        They are a share of all instances in ``(0, 1]``, spread evenly. Where it leaves a unit less
        than one instance, only some units are replayed; the first one always is.
        """
        due = 0.0
        for i, unit in enumerate(units):
            first = experiences(unit)[0]
            due += fraction * first.rows
            share = max(round(due), int(i == 0))
            due -= share
            if share == first.rows:
                yield unit, slice(None)
            elif share:
                index = sorted(self.random.sample(range(first.rows), share))
                yield unit, torch.tensor(index, device=first.behavior.device)

    def whole(self, k: int, fraction: float, enough: float | None = None) -> list[Unit]:
        """Return units of which a fraction of all instances shall be drawn, whichever they are.

        Parameters
        ----------
        k
            How many units.
        fraction
            In ``(0, 1]``.
        enough
            Instead of ``k``: the fewest units of which the fraction has so many states (instances
            times trajectories), or all there are. Those drawn may have fewer: see `by_weight`,
            which draws some repeatedly, and not as many of each unit.
        """
        if enough is None:
            return self.sample(k)
        units: list[Unit] = []
        states = 0.0
        for unit in self.sample(self.capacity):
            if states >= enough:
                break
            units.append(unit)
            states += fraction * sum(s.rows * s.behavior.shape[1] for s in experiences(unit))
        return units

    def draw(
        self, k: int, fraction: float, enough: float | None = None
    ) -> tuple[list[PackedExperience], list[Tensor | slice]]:
        """Return experiences to replay, and of each the instances; steps of one unit share them.

        Parameters
        ----------
        k
            How many units.
        fraction
            The share of their instances; see `portions`.
        enough
            Instead of ``k``: the fewest units with so many states (instances times trajectories),
            or all there are.
        """
        chosen: list[tuple[PackedExperience, Tensor | slice]] = []
        states = 0
        units = self.sample(k if enough is None else self.capacity)
        for unit, rows in self.portions(units, fraction):
            steps = experiences(unit)
            chosen += [(step, rows) for step in steps]
            states += sum(count(step, rows) * step.behavior.shape[1] for step in steps)
            if enough is not None and states >= enough:
                break
        return [step for step, _ in chosen], [rows for _, rows in chosen]

    def state_dict(self) -> dict[str, Any]:
        """Return buffer, snapshot and random streams as plain data."""
        buffer = self.buffer.state_dict()
        held = len(buffer["items"])
        both = units_to_plain([*buffer["items"], *self.snapshot])
        return {
            "buffer": {**buffer, "items": both[:held]},
            "snapshot": both[held:],
            "random": self.random.getstate(),
        }

    def load_state_dict(self, learner: LearnerState, state: Mapping[str, Any]) -> None:
        """Restore `state_dict`."""
        held = len(state["buffer"]["items"])
        plain = [*state["buffer"]["items"], *state["snapshot"]]
        both = units_from_plain(plain, learner.problem, device_of(learner))
        self.buffer.load_state_dict({**state["buffer"], "items": both[:held]})
        self.snapshot = both[held:]
        version, internal, gauss = state["random"]
        self.random.setstate((version, tuple(internal), gauss))


def device_of(learner: LearnerState) -> torch.device:
    """Return where the solver's parameters are."""
    return next(learner.solver.module.parameters()).device
