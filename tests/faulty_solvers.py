"""Solvers with one fault, each as a class; `changed_solvers` has those of one function."""

from typing import Any

import attrs
import torch
from changed_solvers import Wrapped, tilt
from torch import Tensor

from lifelong_co.protocols import Rollout
from lifelong_co.tensors import records


class StopsEarly(Wrapped):
    """Leaves out the last step, also from what it shows."""

    def rollout(self, instances: Any, *arguments: Any, observe: Any = None, **keywords: Any) -> Any:
        """Show all steps but the last."""
        steps: list[Any] = []
        seen = lambda *step: steps.append(step)  # noqa: E731
        whole = super().rollout(instances, *arguments, observe=seen, **keywords)
        for step in steps[:-1]:
            if observe is not None:
                observe(*step)
        actions = whole.actions[..., :-1]
        return attrs.evolve(whole, actions=actions, cost=self.problem.cost(instances, actions))


class NeverGreedy(Wrapped):
    """Samples whatever is asked for."""

    def rollout(self, instances: Any, decode: str = "greedy", **keywords: Any) -> Rollout:  # noqa: ARG002
        """Sample."""
        return super().rollout(instances, "sample", **keywords)


class AlwaysGreedy(Wrapped):
    """Decodes greedily, whatever is asked for."""

    def rollout(self, instances: Any, decode: str = "greedy", **keywords: Any) -> Rollout:  # noqa: ARG002
        """Decode greedily."""
        return super().rollout(instances, "greedy", **keywords)


class IgnoresGenerator(Wrapped):
    """Draws from torch's own stream."""

    def rollout(self, *arguments: Any, generator: Any = None, **keywords: Any) -> Rollout:  # noqa: ARG002
        """Hand on no generator."""
        return super().rollout(*arguments, **keywords)


class LastEncoding(Wrapped):
    """Keeps the encoding to itself, so that the last batch wins."""

    def encode(self, instances: Any) -> Any:
        """Keep it."""
        self.kept = super().encode(instances)
        return self.kept

    def log_probs(self, encoding: Any, state: Any) -> Tensor:  # noqa: ARG002
        """Ask of what was kept."""
        return super().log_probs(self.kept, state)


class Remembers(Wrapped):
    """Sharpens its behavior a little every time it is asked."""

    calls = 0

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Count."""
        self.calls += 1
        return (super().log_probs(encoding, state) * (1 + 0.01 * self.calls)).log_softmax(dim=2)


class Dropout(Wrapped):
    """Adds noise while it trains."""

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Add noise."""
        log_probs = super().log_probs(encoding, state)
        if not self.module.training:
            return log_probs
        return (log_probs + torch.rand_like(log_probs)).log_softmax(dim=2)


class LateState(Wrapped):
    """Shows the state of the step before."""

    def rollout(self, *arguments: Any, observe: Any = None, **keywords: Any) -> Rollout:
        """Show it."""
        states: list[Any] = []

        def late(state: Any, log_probs: Tensor) -> None:
            states.append(state)
            if observe is not None:
                observe(states[max(0, len(states) - 2)], log_probs)

        return super().rollout(*arguments, observe=late, **keywords)


class OneMemory(Wrapped):
    """Goes on in the memory of the state that it has shown."""

    def rollout(self, *arguments: Any, observe: Any = None, **keywords: Any) -> Rollout:
        """Show it."""
        shown: list[Any] = []

        def again(state: Any, log_probs: Tensor) -> None:
            if not shown:
                shown.append(records.transform(state, torch.clone))
            for name, tensor in records.tensors(state).items():
                records.tensors(shown[0])[name].copy_(tensor)
            if observe is not None:
                observe(shown[0], log_probs)

        return super().rollout(*arguments, observe=again, **keywords)


class SmallIntegers(Wrapped):
    """Shows a state whose node indices have another dtype."""

    def rollout(self, *arguments: Any, observe: Any = None, **keywords: Any) -> Rollout:
        """Show it."""

        def small(state: Any, log_probs: Tensor) -> None:
            if observe is not None:
                observe(attrs.evolve(state, current=state.current.int()), log_probs)

        return super().rollout(*arguments, observe=small, **keywords)


class MixesBatch(Wrapped):
    """Prefers later actions the more, the farther right all nodes of the batch lie."""

    def encode(self, instances: Any) -> Any:
        """Read the batch."""
        return super().encode(instances), instances.nodes.mean()

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Use what the batch is like."""
        return tilt(super().log_probs(encoding[0], state), encoding[1])


class FrozenReplay(Wrapped):
    """Has gradients only during its rollout."""

    rolling = False

    def rollout(self, *arguments: Any, **keywords: Any) -> Rollout:
        """Decode with gradients."""
        self.rolling = True
        try:
            return super().rollout(*arguments, **keywords)
        finally:
            self.rolling = False

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Detach them otherwise."""
        log_probs = super().log_probs(encoding, state)
        return log_probs if self.rolling else log_probs.detach()
