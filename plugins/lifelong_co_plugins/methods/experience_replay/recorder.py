"""The life of an experience from the rollout to the buffer: noted, packed, put.

During the rollout the buffer decides which steps it takes, and only those are noted. After the step
they are packed, all at once, as this is four times as fast as one by one. Then they are put into
the buffer. From there on an experience never changes.
"""

import itertools
from collections.abc import Mapping
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.protocols import Buffer, Observer
from lifelong_co.replay.experience import record
from lifelong_co.tensors.heap import CopyThread
from lifelong_co_plugins.methods.experience_replay.bundles import Bundle, bundles_of_a_rollout


@attrs.frozen(eq=False)
class Noted:
    """A bundle that the buffer has admitted, before it is packed."""

    slot: int
    task: int
    instances: Any
    queries: Mapping[str, Tensor]
    """Queries to record with each step; see `recorded_queries`."""
    steps: list[tuple[Any, Tensor]] = attrs.field(factory=list)
    """State and log-probs ``[B, S, A]`` of each step."""


class Recorder:
    """Records rollouts in bundles of ``bundle_size`` steps; see `bundles`."""

    def __init__(self, bundle_size: int) -> None:
        self.bundle_size = bundle_size
        self.noted: list[Noted] = []
        """What the last rollout has to store, in the order of admission."""
        self._thread = CopyThread()

    def observer(
        self,
        buffer: Buffer[Bundle],
        task: int,
        instances: Any,
        *,
        forced: bool = False,
        queries: Mapping[str, Tensor] | None = None,
    ) -> Observer:
        """Return an observer that offers the steps of a rollout to a buffer and notes them.

        Every ``k``-th step goes into one bundle, so a long rollout makes long bundles; with
        ``bundle_size`` 1 each step is a bundle.

        Parameters
        ----------
        buffer, task, instances
            Where the steps go, and what they belong to.
        forced
            Whether to record steps in which no state leaves a choice; there is nothing to keep.
        queries
            Recorded with each step; see `recorded_queries`.
        """
        offered: list[Noted | None] = []  # the bundles of this rollout; None: rejected
        steps = itertools.count()

        def note(state: Any, log_probs: Tensor) -> None:
            if not forced and without_choice(log_probs):
                return
            place = next(steps)
            if self.bundle_size != 1:
                place %= bundles_of_a_rollout(log_probs.shape[2], self.bundle_size)
            if place == len(offered):
                slot = buffer.admit()  # a rejected step costs nothing
                if slot is None:
                    offered.append(None)
                else:
                    new = Noted(slot, task, instances, queries or {})
                    offered.append(new)
                    self.noted.append(new)
            bundle = offered[place]
            if bundle is not None:
                bundle.steps.append((state, log_probs.detach()))

        return note

    def store(self, buffer: Buffer[Bundle]) -> None:
        """Pack what was noted and put it into the buffer."""
        noted, self.noted = self.noted, []
        packed = [
            record(each.task, each.instances, *step, each.queries)
            for each in noted
            for step in each.steps
        ]
        copies = self._thread.copies([step.packed for step in packed])
        steps = (attrs.evolve(s, packed=copy) for s, copy in zip(packed, copies, strict=True))
        for each in noted:
            own = tuple(itertools.islice(steps, len(each.steps)))
            buffer.put(each.slot, Bundle(each.task, own))


def without_choice(log_probs: Tensor) -> bool:
    """Return whether every state has a single feasible action, given ``[B, S, A]``."""
    return bool(((log_probs != -torch.inf).sum(dim=2) == 1).all())
