"""What the buffer of experiences holds: decoding steps of a batch, or its whole solutions.

Steps are the paper's; whole solutions are its ablation -IB ("buffers all steps for solve an
instance as one experience", a batch at a time).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.errors import UnknownNameError
from lifelong_co.experience import PackedExperience, from_state_dicts, note, state_dicts
from lifelong_co.protocols import Buffer, Observer, Problem


@attrs.frozen(eq=False)
class Solutions:
    """All unforced decoding steps of one rollout of one batch."""

    task: int
    """Index of the task it was recorded on."""
    steps: list[PackedExperience] = attrs.field(factory=list)
    """In the order of the decoding; it grows while the rollout goes on."""


Unit = PackedExperience | Solutions


def experiences(unit: Unit) -> list[PackedExperience]:
    """Return the decoding steps of a unit."""
    return unit.steps if isinstance(unit, Solutions) else [unit]


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


def record_solutions(
    buffer: Buffer[Any], task: int, instances: Any, recorded: list[PackedExperience]
) -> Observer:
    """Return an observer that offers a rollout to a buffer, as one unit, at its first step."""
    unit = Solutions(task)
    slots: list[int | None] = []

    def observe(state: Any, log_probs: Tensor) -> None:
        if not slots:
            slots.append(buffer.admit())
            if slots[0] is not None:
                buffer.put(slots[0], unit)
        if slots[0] is not None:
            recorded.append(note(task, instances, state, log_probs))
            unit.steps.append(recorded[-1])

    return observe


Recorder = Callable[[Buffer[Any], int, Any, list[PackedExperience]], Observer]

RECORDERS: dict[str, Recorder] = {
    "step": record_steps,
    "solution": record_solutions,
}
"""How each kind of unit is recorded."""


def recorder(unit: str) -> Recorder:
    """Return how a kind of unit is recorded, ``step`` or ``solution``.

    Raises
    ------
    UnknownNameError
        If there is no such kind.
    """
    if unit not in RECORDERS:
        raise UnknownNameError("unit", unit, RECORDERS)
    return RECORDERS[unit]


def foreign(units: Sequence[Unit], unit: str, task: int) -> list[Unit]:
    """Return another run's units as units of this kind, under another task's index.

    A solution comes apart into its steps; a step alone is a solution of one step.
    """
    taken: list[Unit] = []
    for each in units:
        steps = [attrs.evolve(step, task=task) for step in experiences(each)]
        taken += [Solutions(task, steps)] if unit == "solution" else steps
    return taken


def units_to_plain(units: Sequence[Unit]) -> list[dict[str, Any]]:
    """Return units as plain data; batches that were shared stay shared."""
    plain = iter(state_dicts([step for unit in units for step in experiences(unit)]))
    return [
        {"task": unit.task, "steps": [next(plain) for _ in unit.steps]}
        if isinstance(unit, Solutions)
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
        Solutions(state["task"], [next(steps) for _ in state["steps"]])
        if "steps" in state
        else next(steps)
        for state in states
    ]
