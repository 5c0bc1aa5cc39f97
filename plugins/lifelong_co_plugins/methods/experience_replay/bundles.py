"""What the buffer of experiences holds: decoding steps of a batch, alone or in bundles.

Steps alone are the paper's. A bundle is some steps of one rollout of one batch, spread evenly over
it: replayed together they share instances, and so an encoder pass. The paper's ablation -IB
("buffers all steps for solve an instance as one experience", a batch at a time) is a bundle of all.
"""

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.errors import UnknownNameError
from lifelong_co.protocols import Buffer, Observer, Problem
from lifelong_co.replay.experience import PackedExperience, from_state_dicts, note, state_dicts


@attrs.frozen(eq=False)
class Bundle:
    """Unforced decoding steps of one rollout of one batch."""

    task: int
    """Index of the task it was recorded on."""
    steps: list[PackedExperience] = attrs.field(factory=list)
    """In the order of the decoding; it grows while the rollout goes on."""


Unit = PackedExperience | Bundle


def experiences(unit: Unit) -> list[PackedExperience]:
    """Return the decoding steps of a unit."""
    return unit.steps if isinstance(unit, Bundle) else [unit]


def record_steps(
    buffer: Buffer[Any], task: int, instances: Any, recorded: list[PackedExperience]
) -> Observer:
    """Return an observer that offers every decoding step of a rollout to a buffer.

    What is admitted is added to ``recorded``, too.
    """

    def observe(state: Any, log_probs: Tensor) -> None:
        slot = buffer.admit()  # decided before anything is packed
        if slot is not None:
            recorded.append(note(task, instances, state, log_probs))
            buffer.put(slot, recorded[-1])

    return observe


def record_bundles(
    buffer: Buffer[Any],
    task: int,
    instances: Any,
    recorded: list[PackedExperience],
    *,
    size: int | None = None,
) -> Observer:
    """Return an observer that offers the steps of a rollout to a buffer, in bundles.

    A rollout of the fewest steps its problem has gives bundles of about ``size`` steps, every
    ``k``-th of the rollout in one; a longer one longer bundles. With None all steps are one.
    """
    offered: list[Bundle | None] = []  # None: not admitted
    steps = itertools.count()

    def observe(state: Any, log_probs: Tensor) -> None:
        of_a_rollout = 1 if size is None else math.ceil(log_probs.shape[2] / size)
        if len(offered) < of_a_rollout:
            slot = buffer.admit()
            offered.append(None if slot is None else Bundle(task))
            if slot is not None:
                buffer.put(slot, offered[-1])
        bundle = offered[next(steps) % of_a_rollout]
        if bundle is not None:
            recorded.append(note(task, instances, state, log_probs))
            bundle.steps.append(recorded[-1])

    return observe


Recorder = Callable[[Buffer[Any], int, Any, list[PackedExperience]], Observer]

UNITS = ("step", "solution")


def recorder(unit: str, bundle_size: int = 1) -> Recorder:
    """Return how a kind of unit is recorded: ``solution``, or ``step`` alone or in bundles.

    Raises
    ------
    UnknownNameError
        If there is no such kind.
    """
    if unit not in UNITS:
        raise UnknownNameError("unit", unit, UNITS)
    if unit == "solution":
        return record_bundles
    if bundle_size == 1:
        return record_steps
    return functools.partial(record_bundles, size=bundle_size)


def units_of(steps: int, unit: str, bundle_size: int) -> int:
    """Return how many units hold so many steps: at least one, if any; solutions count as one."""
    if unit == "solution" or not steps:
        return steps
    return max(1, steps // bundle_size)


def foreign(units: Sequence[Unit], unit: str, bundle_size: int, task: int) -> list[Unit]:
    """Return another run's units as units of this kind, under another task's index.

    Bundles and solutions stay what they are among each other, and come apart among steps.
    Steps that were alone are solutions of one step each; among bundles, those of a batch come
    together, in as many as have ``bundle_size`` steps or more (one, if they are fewer).
    """
    found: list[Unit] = []
    alone: dict[int, list[PackedExperience]] = {}  # those of a batch
    for each in units:
        steps = [attrs.evolve(step, task=task) for step in experiences(each)]
        if unit == "step" and bundle_size == 1:
            found += steps
        elif unit == "solution" or isinstance(each, Bundle):
            found.append(Bundle(task, steps))
        else:
            alone.setdefault(id(each.instances), []).extend(steps)
    for own in alone.values():
        count = max(1, len(own) // bundle_size)
        found += [Bundle(task, own[i::count]) for i in range(count)]
    return found


def units_to_plain(units: Sequence[Unit]) -> list[dict[str, Any]]:
    """Return units as plain data; batches that were shared stay shared."""
    plain = iter(state_dicts([step for unit in units for step in experiences(unit)]))
    return [
        {"task": unit.task, "steps": [next(plain) for _ in unit.steps]}
        if isinstance(unit, Bundle)
        else next(plain)
        for unit in units
    ]


def units_from_plain(
    states: Sequence[Mapping[str, Any]], problem: Problem, device: torch.device
) -> list[Unit]:
    """Undo `units_to_plain`, on a device."""
    flat = [step for state in states for step in state.get("steps", [state])]
    steps = iter(from_state_dicts(flat, problem, device))
    return [
        Bundle(state["task"], [next(steps) for _ in state["steps"]])
        if "steps" in state
        else next(steps)
        for state in states
    ]
