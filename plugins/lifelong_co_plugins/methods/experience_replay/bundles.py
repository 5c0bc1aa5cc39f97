"""What the buffer of experiences holds: bundles of decoding steps of one rollout.

The paper buffers single steps: bundles of size 1. The steps of a larger bundle are spread evenly
over the rollout. They share their instances, so one encoder pass replays them all. Size 0 puts all
steps of a rollout into one bundle, the paper's ablation -IB ("buffers all steps for solve an
instance as one experience").
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import torch

from lifelong_co.protocols import Problem
from lifelong_co.replay.experience import PackedExperience, from_state_dicts, state_dicts

ALL_STEPS = 0
"""The bundle size that puts all steps of a rollout into one bundle."""


@attrs.frozen(eq=False)
class Bundle:
    """Decoding steps of one rollout of one batch; forced steps are left out."""

    task: int
    """Index of the task it was recorded on."""
    steps: tuple[PackedExperience, ...]
    """At least one, in the order of the decoding."""


def bundles_of_a_rollout(actions: int, size: int) -> int:
    """Return how many bundles a rollout makes, of about ``size`` steps if it has ``A`` steps."""
    return 1 if size == ALL_STEPS else math.ceil(actions / size)


def in_bundles(steps: int, size: int) -> int:
    """Return how many bundles hold so many steps, at least one; of size 0 as many bundles."""
    if size == ALL_STEPS or not steps:
        return steps
    return max(1, steps // size)


def adopted(bundles: Sequence[Bundle], size: int, task: int) -> list[Bundle]:
    """Return another run's bundles as bundles of this run's size, under another task's index.

    Recorded queries are left out, because they belong to the other run's network. A bundle of twice
    the size or more is cut. Those of at most half the size come together with others of their
    batch, with size 0 all of a batch.
    """
    groups: dict[tuple[int, ...], list[PackedExperience]] = {}
    for place, bundle in enumerate(bundles):
        short = size == ALL_STEPS or 2 * len(bundle.steps) <= size
        batch = id(bundle.steps[0].instances)
        own = groups.setdefault((batch,) if short else (batch, place), [])
        own.extend(step.of_task(task) for step in bundle.steps)
    found = []
    for steps in groups.values():
        count = 1 if size == ALL_STEPS else in_bundles(len(steps), size)
        found += [Bundle(task, tuple(steps[first::count])) for first in range(count)]
    return found


def to_plain(bundles: Sequence[Bundle]) -> list[dict[str, Any]]:
    """Return bundles as plain data, a single step without its bundle; batches stay shared."""
    steps = iter(state_dicts([step for bundle in bundles for step in bundle.steps]))
    plain = [(bundle.task, [next(steps) for _ in bundle.steps]) for bundle in bundles]
    return [{"task": task, "steps": own} if len(own) > 1 else own[0] for task, own in plain]


def from_plain(
    states: Sequence[Mapping[str, Any]], problem: Problem, device: torch.device
) -> list[Bundle]:
    """Undo `to_plain`, on a device."""
    plain = [(state["task"], state.get("steps", [state])) for state in states]
    steps = iter(from_state_dicts([step for _, own in plain for step in own], problem, device))
    return [Bundle(task, tuple(next(steps) for _ in own)) for task, own in plain]
