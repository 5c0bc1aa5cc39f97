"""Solvers whose gradients or parameters are not what they seem."""

import copy
from typing import Any

import torch
from changed_solvers import Wrapped, good, tilt
from torch import Tensor, nn

from lifelong_co.protocols import Rollout


class UnusedParameter(Wrapped):
    """Its module has a trainable parameter that nothing uses."""

    def __init__(self, problem: Any = "tsp") -> None:
        super().__init__(problem)
        self.module.register_parameter("spare", nn.Parameter(torch.zeros(2)))


class DetachedSteps(Wrapped):
    """Decodes every second step without gradients, as an author's loop may."""

    asked = 0

    def rollout(self, *arguments: Any, **keywords: Any) -> Rollout:
        """Count the steps."""
        self.asked = 1
        try:
            return super().rollout(*arguments, **keywords)
        finally:
            self.asked = 0

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Detach."""
        log_probs = super().log_probs(encoding, state)
        self.asked += bool(self.asked)
        return log_probs if self.asked % 2 == 0 else log_probs.detach()


class OtherParameter(Wrapped):
    """Learns a parameter that its module does not have."""

    def __init__(self, problem: Any = "tsp") -> None:
        super().__init__(problem)
        self.slope = torch.zeros(1, requires_grad=True)

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Use it."""
        return tilt(super().log_probs(encoding, state), self.slope)


class OldCopy(Wrapped):
    """Prepares its parameters for tests once."""

    ready: Any = None

    def encode(self, instances: Any) -> Any:
        """Use what is prepared."""
        if self.module.training or torch.is_grad_enabled():
            return super().encode(instances)
        if self.ready is None:
            self.ready = good(self.problem)
            self.ready.module.load_state_dict(copy.deepcopy(self.module.state_dict()))
            self.ready.module.eval()
        return self.ready.encode(instances)

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Use it here, too."""
        if self.module.training or torch.is_grad_enabled() or self.ready is None:
            return super().log_probs(encoding, state)
        found: Tensor = self.ready.log_probs(encoding, state)
        return found


class LostBuffer(Wrapped):
    """Keeps a running mean that no ``state_dict`` has."""

    def __init__(self, problem: Any = "tsp") -> None:
        super().__init__(problem)
        self.module.register_buffer("mean", torch.zeros(()), persistent=False)

    def rollout(self, *arguments: Any, **keywords: Any) -> Rollout:
        """Update it."""
        if self.module.training:
            self.module.get_buffer("mean").add_(1)
        return super().rollout(*arguments, **keywords)


class LateBuffer(Wrapped):
    """Registers such a buffer when it first solves in training mode."""

    def rollout(self, *arguments: Any, **keywords: Any) -> Rollout:
        """Update it."""
        module: nn.Module = self.module
        if module.training:
            if "late" not in dict(module.named_buffers()):
                module.register_buffer("late", torch.zeros(()), persistent=False)
            module.get_buffer("late").add_(1)
        return super().rollout(*arguments, **keywords)


class GrowingCache(Wrapped):
    """Keeps a table that grows with the instances, which is no fault."""

    def __init__(self, problem: Any = "tsp") -> None:
        super().__init__(problem)
        self.module.register_buffer("table", torch.zeros(0), persistent=False)

    def encode(self, instances: Any) -> Any:
        """Let it grow."""
        n = self.problem.size(instances)
        if self.module.get_buffer("table").shape[0] < n:
            self.module.register_buffer("table", torch.arange(n), persistent=False)
        return super().encode(instances)
