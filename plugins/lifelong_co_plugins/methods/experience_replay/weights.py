"""Rows of buffered units, drawn by what they weigh in the consolidation loss."""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from lifelong_co.protocols import ConsolidationLoss
from lifelong_co.replay.experience import PackedExperience
from lifelong_co_plugins.methods.experience_replay.bundles import Unit, experiences
from lifelong_co_plugins.methods.experience_replay.heap import Apart
from lifelong_co_plugins.methods.experience_replay.importance_sampling import by_weight


class Weighing:
    """Remembers what experiences weigh: it never changes, and most are drawn many times."""

    def __init__(self, loss: ConsolidationLoss) -> None:
        self.loss = loss
        self.apart = Apart()
        self.known: WeakKeyDictionary[PackedExperience, Tensor] = WeakKeyDictionary()
        """Raw weights ``[B, S]`` of experiences that are held somewhere."""

    def raw(self, steps: Sequence[PackedExperience]) -> list[Tensor]:
        """Return the raw weights ``[B, S]`` of each."""
        new = [step for step in dict.fromkeys(steps) if step not in self.known]
        weighed = [{"raw": self.loss.raw_weights(step.log_probs())} for step in new]
        for step, copy in zip(new, self.apart.copies(weighed), strict=True):
            self.known[step] = copy["raw"]
        return [self.known[step] for step in steps]

    def draw(
        self, units: Sequence[Unit], share: float, start: float
    ) -> tuple[list[PackedExperience], list[Tensor | slice], list[Tensor]]:
        """Return the steps of units with the rows chosen by weight, and what these weigh then.

        Parameters
        ----------
        share, start
            See `by_weight`.
        """
        steps = [experiences(unit) for unit in units]
        weights = iter(self.loss.normalise(self.raw([step for own in steps for step in own])))
        of_units = [[next(weights) for _ in own] for own in steps]
        rows_weigh = [torch.stack([each.sum(dim=1) for each in own]).sum(dim=0) for own in of_units]
        found: tuple[list[PackedExperience], list[Tensor | slice], list[Tensor]] = ([], [], [])
        for own, weight, drawn in zip(
            steps, of_units, by_weight(rows_weigh, share, start), strict=True
        ):
            if drawn is not None:
                rows, factors = drawn
                found[0].extend(own)
                found[1].extend([rows] * len(own))
                found[2].extend(each[rows] * factors[:, None] for each in weight)
        return found
