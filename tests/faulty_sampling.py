"""Solvers whose samples, first actions or replay have one fault, each as a class."""

import itertools
from typing import Any

import attrs
import torch
from changed_solvers import Wrapped, tilt
from torch import Tensor

from lifelong_co.protocols import Objective, Rollout
from lifelong_co.rollout.decoding import rollout as decode_all

SHARPER = 20.0
"""By which its logits are multiplied."""


class Sharp(Wrapped):
    """Draws from a sharper distribution than it shows."""

    def rollout(self, instances: Any, decode: str = "greedy", **keywords: Any) -> Rollout:
        """Draw from the sharper one, and show the other one."""
        observe, plain = keywords.pop("observe", None), super().log_probs
        encoding, likelihood = self.encode(instances), 0.0
        shown: list[tuple[Any, Tensor]] = []
        self.log_probs = lambda *given: (SHARPER * plain(*given)).log_softmax(dim=2)  # type: ignore[method-assign]
        try:
            found = super().rollout(
                instances, decode, observe=lambda *step: shown.append(step), **keywords
            )
        finally:
            del self.log_probs
        for t, (state, _) in enumerate(shown, start=found.actions.shape[2] - len(shown)):
            log_probs = self.log_probs(encoding, state)
            likelihood = likelihood + log_probs.gather(2, found.actions[..., t, None]).squeeze(2)
            if observe is not None:
                observe(state, log_probs)
        return attrs.evolve(found, log_likelihood=likelihood)


class SameNoise(Wrapped):
    """Starts its random stream again at each rollout."""

    def rollout(self, *arguments: Any, generator: Any = None, **keywords: Any) -> Rollout:
        """Take only the seed of the generator."""
        own = generator and torch.Generator().manual_seed(generator.initial_seed())
        return super().rollout(*arguments, generator=own, **keywords)


class GlobalStream(Wrapped):
    """Draws from torch's global stream what it does not use."""

    def rollout(self, *arguments: Any, **keywords: Any) -> Rollout:
        """Draw."""
        torch.rand(3)
        return super().rollout(*arguments, **keywords)


class Turns(Wrapped):
    """Begins a rollout with other first actions each time."""

    def __init__(self, problem: Any = "tsp") -> None:
        super().__init__(problem)
        self.turn = itertools.count()

    def rollout(self, instances: Any, *arguments: Any, **keywords: Any) -> Rollout:
        """Give each trajectory the first actions of another one."""
        S = keywords.pop("trajectories", None) or self.problem.size(instances)
        by = next(self.turn) % 2
        starts = [action.roll(by, dims=1) for action in self.problem.starts(instances, S)]
        return decode_all(self, instances, *arguments, starts=starts, trajectories=S, **keywords)


class ForcesMore(Wrapped):
    """Forces two actions more than the problem, which nobody sees."""

    def rollout(self, instances: Any, *arguments: Any, **keywords: Any) -> Rollout:
        """Force the first feasible ones."""
        S = keywords.pop("trajectories", None) or self.problem.size(instances)
        starts, state = [], self.problem.reset(instances, S)
        for action in self.problem.starts(instances, S):
            starts.append(action)
            state = self.problem.step(instances, state, action)
        for _ in range(2):
            starts.append(self.problem.feasible(instances, state).float().argmax(dim=2))
            state = self.problem.step(instances, state, starts[-1])
        return decode_all(self, instances, *arguments, starts=starts, trajectories=S, **keywords)


class StepOfAll(Wrapped):
    """Reads from several rows or trajectories of a state how many nodes are visited."""

    def __init__(self, over: tuple[int, ...]) -> None:
        super().__init__("tsp")
        self.over = over

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Prefer later actions the more, the more nodes are visited."""
        visited = state.visited.float().mean(dim=self.over, keepdim=True)
        return tilt(super().log_probs(encoding, state), visited)


class Rescales(Wrapped):
    """Moves the nodes of the instances to the origin."""

    def encode(self, instances: Any) -> Any:
        """Move them in place."""
        instances.nodes.sub_(instances.nodes.amin(dim=1, keepdim=True))
        return super().encode(instances)


class LateName(Wrapped):
    """Makes a buffer when it is first used."""

    def encode(self, instances: Any) -> Any:
        """Make it."""
        if not hasattr(self.module, "late"):
            self.module.register_buffer("late", torch.zeros(2))
        return super().encode(instances)


class UnsavedBaseline(Wrapped):
    """Learns with a moving mean that its objective does not save."""

    def objective(self) -> Objective:
        """Return one with a mean of the costs."""
        mean = [0.0]

        def loss(instances: Any, rollout: Rollout) -> Tensor:  # noqa: ARG001
            mean[0] = 0.9 * mean[0] + 0.1 * float(rollout.cost.mean())
            return ((rollout.cost - mean[0]) * rollout.log_likelihood).mean()

        return Objective(loss=loss)
