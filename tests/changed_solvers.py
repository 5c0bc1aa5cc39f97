"""A good solver whose results pass through a function, and functions that are faults."""

from collections.abc import Callable
from typing import Any

import attrs
import torch
from tiny_runs import MODEL
from torch import Tensor

import lifelong_co as lco
from lifelong_co.protocols import Objective, Rollout
from lifelong_co.reinforce import shared_baseline
from lifelong_co.rollout.decoding import rollout as decode_all


def good(problem: Any = "tsp") -> Any:
    """Return a solver that keeps the contract."""
    return lco.solver("pomo", problem, **MODEL)


class Wrapped:
    """A good solver that decodes with its `log_probs`, which mutants change."""

    def __init__(self, problem: Any = "tsp") -> None:
        self.inner = good(problem)
        self.problem, self.module = self.inner.problem, self.inner.module

    def encode(self, instances: Any) -> Any:
        """Return the good encoding."""
        return self.inner.encode(instances)

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Return the good log-probabilities."""
        return self.inner.log_probs(encoding, state)

    def rollout(
        self,
        instances: Any,
        decode: Any = "greedy",
        *,
        trajectories: int | None = None,
        generator: torch.Generator | None = None,
        observe: Any = None,
    ) -> Rollout:
        """Decode with what may be a mutant's `log_probs`."""
        S = self.problem.size(instances) if trajectories is None else trajectories
        return decode_all(
            self,
            instances,
            decode,
            starts=self.problem.starts(instances, S),
            trajectories=S,
            generator=generator,
            observe=observe,
        )

    def objective(self) -> Objective:
        """Return POMO's."""
        return shared_baseline()

    def load_official(self, state_dict: Any) -> None:
        """Load nothing."""


class Changed(Wrapped):
    """Passes its log-probabilities through a function."""

    def __init__(self, change: Callable[[Tensor], Tensor], problem: Any = "tsp") -> None:
        super().__init__(problem)
        self.change = change

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Return them changed."""
        return self.change(super().log_probs(encoding, state))


class Replaced(Wrapped):
    """Passes its rollouts through a function of the problem, the instances and the rollout."""

    def __init__(self, change: Callable[[Any, Any, Rollout], Rollout], problem: Any) -> None:
        super().__init__(problem)
        self.change = change

    def rollout(self, instances: Any, *arguments: Any, **keywords: Any) -> Rollout:
        """Return it changed."""
        return self.change(
            self.problem, instances, super().rollout(instances, *arguments, **keywords)
        )


class Learns(Wrapped):
    """Passes its policy loss through a function."""

    def __init__(self, change: Callable[[Tensor], Tensor], problem: Any) -> None:
        super().__init__(problem)
        self.change = change

    def objective(self) -> Objective:
        """Return it changed."""
        inner = shared_baseline().loss
        return Objective(loss=lambda *given: self.change(inner(*given)))


def tilt(log_probs: Tensor, slope: Tensor) -> Tensor:
    """Prefer later actions, by a slope that broadcasts to ``[B, S, 1]``."""
    preference = torch.linspace(0, 1, log_probs.shape[2])
    return (log_probs + slope * preference).log_softmax(dim=2)


def nearly_feasible(log_probs: Tensor) -> Tensor:
    """Give infeasible actions a chance of 1e-13."""
    return log_probs.clamp(min=-30.0)


def dead(log_probs: Tensor) -> Tensor:
    """Leave the first trajectory without an action."""
    return log_probs.index_fill(1, torch.tensor([0]), -torch.inf)


def by_trajectory(log_probs: Tensor) -> Tensor:
    """Let the number of a trajectory decide."""
    return tilt(log_probs, torch.arange(log_probs.shape[1])[None, :, None] * 0.1)


def by_row(log_probs: Tensor) -> Tensor:
    """Let the place in the batch decide."""
    return tilt(log_probs, torch.arange(log_probs.shape[0])[:, None, None] * 0.1)


def double_cost(problem: Any, instances: Any, rollout: Rollout) -> Rollout:  # noqa: ARG001
    """Report another cost."""
    return attrs.evolve(rollout, cost=2 * rollout.cost)


def half_cost(problem: Any, instances: Any, rollout: Rollout) -> Rollout:  # noqa: ARG001
    """Report a cost of few digits."""
    return attrs.evolve(rollout, cost=rollout.cost.half())


def half_likelihood(problem: Any, instances: Any, rollout: Rollout) -> Rollout:  # noqa: ARG001
    """Report a log-likelihood of few digits."""
    return attrs.evolve(rollout, log_likelihood=rollout.log_likelihood.bfloat16())


def scaled_in_place(problem: Any, instances: Any, rollout: Rollout) -> Rollout:  # noqa: ARG001
    """Change the instances."""
    instances.nodes.mul_(0.5)
    return rollout


def mean_likelihood(problem: Any, instances: Any, rollout: Rollout) -> Rollout:  # noqa: ARG001
    """Report the mean of the log-probabilities instead of the sum."""
    mean = rollout.log_likelihood / rollout.actions.shape[2]
    return attrs.evolve(rollout, log_likelihood=mean)


def visits_twice(problem: Any, instances: Any, rollout: Rollout) -> Rollout:
    """End where it has been before."""
    actions = rollout.actions.clone()
    actions[..., -1] = actions[..., 1]
    return attrs.evolve(rollout, actions=actions, cost=problem.cost(instances, actions))


def beyond(problem: Any, instances: Any, rollout: Rollout) -> Rollout:  # noqa: ARG001
    """Visit a node that does not exist, last."""
    actions = rollout.actions.clone()
    actions[..., -1] = 99
    return attrs.evolve(rollout, actions=actions)
