"""One record of what a training step replays: steps, their instances, and what they weigh."""

import attrs
import torch
from torch import Tensor

from lifelong_co.replay.experience import PackedExperience
from lifelong_co.replay.joined import joined_log_probs
from lifelong_co.tensors import records

# Tokens of one encoder pass on the CPU, where larger temporaries cost more than they save.
CPU_TOKENS = 2048


@attrs.frozen(eq=False)
class ReplayedBundle:
    """Steps of one rollout, replayed on the same ``b`` of its ``B`` instances."""

    steps: tuple[PackedExperience, ...]
    rows: Tensor | slice = slice(None)
    """The instances, long ``[b]``; a slice: all."""
    weights: tuple[Tensor, ...] = ()
    """Normalised weights ``[b, S]`` of each step; empty where a method does not weigh."""

    @property
    def instances(self) -> object:
        """The replayed instances."""
        return records.select(self.steps[0].instances, self.rows)

    @property
    def count(self) -> int:
        """Their number ``b``."""
        return len(self.rows) if isinstance(self.rows, Tensor) else self.steps[0].rows


@attrs.frozen(eq=False)
class Replayed:
    """Bundles to replay, or those of them that share an encoder pass.

    Tensors have the rows of all steps of all bundles, ``R = sum b`` in this order.
    """

    bundles: tuple[ReplayedBundle, ...]
    each_alone: bool = False
    """Whether the network normalises over the batch. Then each bundle is replayed whole, in an
    encoder pass without others: the recorded behavior is that of its whole batch."""

    @property
    def weights(self) -> Tensor:
        """Normalised weights ``[R, S]``."""
        return torch.cat([weight for bundle in self.bundles for weight in bundle.weights])

    @property
    def teacher(self) -> Tensor:
        """The recorded log-probs ``[R, S, A]``."""
        return joined_log_probs([(s, each.rows) for each in self.bundles for s in each.steps])

    @property
    def sizes(self) -> list[int]:
        """The number of rows of each step."""
        return [bundle.count for bundle in self.bundles for _ in bundle.steps]

    def of_one_size(self) -> list["Replayed"]:
        """Return batches that can share an encoder pass, on the CPU small enough for its caches."""
        if self.each_alone:
            return [attrs.evolve(self, bundles=(bundle,)) for bundle in self.bundles]
        batches: list[list[ReplayedBundle]] = []
        # By shape [S, A] and by recorded queries.
        last: dict[tuple[int | str, ...], list[ReplayedBundle]] = {}
        left: dict[
            tuple[int | str, ...], int
        ] = {}  # tokens that the last batch of a shape may take
        for bundle in self.bundles:
            first = bundle.steps[0]
            trajectories, actions = first.trajectories_and_actions
            shape: tuple[int | str, ...] = (trajectories, actions, *first.roles)
            tokens = bundle.count * actions
            if shape not in last or (first.device.type == "cpu" and left[shape] < tokens):
                last[shape] = []
                batches.append(last[shape])
                left[shape] = CPU_TOKENS
            last[shape].append(bundle)
            left[shape] -= tokens
        return [attrs.evolve(self, bundles=tuple(batch)) for batch in batches]
