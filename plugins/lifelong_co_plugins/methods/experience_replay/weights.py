"""What replayed states weigh in the consolidation loss, and which instances are drawn by it."""

import random
from collections.abc import Sequence
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from lifelong_co.protocols import ConsolidationLoss, LearnerState
from lifelong_co.replay.experience import PackedExperience
from lifelong_co.tensors.heap import CopyThread
from lifelong_co.tensors.modules import normalises_over_batch
from lifelong_co_plugins.methods.experience_replay.bundles import Bundle
from lifelong_co_plugins.methods.experience_replay.importance_sampling import by_weight
from lifelong_co_plugins.methods.experience_replay.replayed import Replayed, ReplayedBundle


class Weights:
    """Weighs experiences. A raw weight never changes, so each is computed once and kept.

    Parameters
    ----------
    loss
        The consolidation loss, which computes and normalises weights.
    fraction
        The share of all instances to replay, in ``(0, 1]``; they are drawn by weight.
    stream
        The random stream that instances are drawn from.
    """

    def __init__(self, loss: ConsolidationLoss, fraction: float, stream: random.Random) -> None:
        self.loss = loss
        self.fraction = fraction
        self.stream = stream
        self.known: WeakKeyDictionary[PackedExperience, Tensor] = WeakKeyDictionary()
        """Raw weights ``[B, S]`` of experiences that something still holds."""
        self._thread = CopyThread()

    def raw(self, steps: Sequence[PackedExperience]) -> list[Tensor]:
        """Return the raw weights ``[B, S]`` of each step."""
        new = [step for step in dict.fromkeys(steps) if step not in self.known]
        weighed = [{"raw": self.loss.raw_weights(step.log_probs())} for step in new]
        for step, copy in zip(new, self._thread.copies(weighed), strict=True):
            self.known[step] = copy["raw"]
        return [self.known[step] for step in steps]

    def replayed(self, learner: LearnerState, bundles: Sequence[Bundle]) -> Replayed:
        """Return bundles with the instances to replay and the normalised weights of their states.

        A bundle of which no instance is drawn is left out.
        """
        alone = normalises_over_batch(learner.solver.module)
        share = 1.0 if alone else self.fraction
        if not bundles:
            return Replayed((), each_alone=alone)
        normalised = iter(self.loss.normalise(self.raw([s for b in bundles for s in b.steps])))
        weights = [tuple(next(normalised) for _ in bundle.steps) for bundle in bundles]
        if share < 1:
            found = drawn_by_weight(bundles, weights, share, self.stream.random())
        else:
            pairs = zip(bundles, weights, strict=True)
            found = [ReplayedBundle(bundle.steps, weights=own) for bundle, own in pairs]
        return Replayed(tuple(found), each_alone=alone)


def drawn_by_weight(
    bundles: Sequence[Bundle], weights: Sequence[tuple[Tensor, ...]], share: float, start: float
) -> list[ReplayedBundle]:
    """Draw instances in proportion to the sum of their weights; each then counts alike.

    Parameters
    ----------
    weights
        Normalised weights ``[B, S]`` of each step of each bundle.
    share, start
        See `by_weight`.
    """
    stacked = [torch.stack(own) for own in weights]  # [steps, B, S]
    of_rows = [own.sum(dim=2).sum(dim=0) for own in stacked]
    found = []
    for bundle, own, drawn in zip(bundles, stacked, by_weight(of_rows, share, start), strict=True):
        if drawn is not None:
            rows, factors = drawn
            weighed = (own[:, rows] * factors[:, None]).unbind()
            found.append(ReplayedBundle(bundle.steps, rows, weighed))
    return found
