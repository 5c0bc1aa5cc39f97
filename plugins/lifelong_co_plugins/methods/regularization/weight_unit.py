"""The unit of the weight of a term that keeps old behavior or parameters.

Objectives differ in the size of their gradients, and so do problems and sizes. A weight in units of
the policy's gradient means the same for all of them.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from lifelong_co.errors import UnknownNameError
from lifelong_co.protocols import LearnerState
from lifelong_co.tensors.modules import device_of

UNITS = ("absolute", "gradient")
DECAY = 0.99
"""Factor of the past in the average, per step: it covers about the last 100 steps."""


class WeightUnit:
    """What the weight of a term is multiplied by."""

    def __init__(self, option: str, name: str) -> None:
        """``absolute`` is 1, ``gradient`` a `GradientNorm`; an error names the option."""
        if name not in UNITS:
            raise UnknownNameError(option, name, UNITS)
        self.norm = GradientNorm() if name == "gradient" else None

    def now(self, learner: LearnerState) -> float | Tensor:
        """Return the unit in this step; asked for once, before the first term of the step."""
        return 1.0 if self.norm is None else self.norm.note(learner)

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the average."""
        return {} if self.norm is None else {"gradient_norm": self.norm.state_dict()}

    def load_state_dict(self, learner: LearnerState, state: Mapping[str, Any]) -> None:
        """Restore it from the state of a method that holds `state_dict`."""
        if self.norm is not None:
            self.norm.load_state_dict(learner, state["gradient_norm"])


class GradientNorm:
    """The exponential moving average of the norm of the policy's gradient, without its bias.

    The numbers stay on the device, so nothing waits for it. Each process of a run has the norm of
    the gradient of its share of the batch.
    """

    def __init__(self) -> None:
        self.total: Tensor | None = None
        self.steps = 0

    def note(self, learner: LearnerState) -> Tensor:
        """Add the norm of the present gradients and return the average, a scalar of at least 0.

        The first term of a method is asked for after the backward pass of ``L_DRL`` and before any
        other, so the gradients are those of the policy then.
        """
        norm = gradient_norm(learner.solver.module)
        past = torch.zeros_like(norm) if self.total is None else self.total
        self.total = DECAY * past + (1 - DECAY) * norm
        self.steps += 1
        return self.total / (1 - DECAY**self.steps)

    def state_dict(self) -> dict[str, Any]:
        """Return the average and the number of steps."""
        return {} if self.total is None else {"total": self.total, "steps": self.steps}

    def load_state_dict(self, learner: LearnerState, state: Mapping[str, Any]) -> None:
        """Restore `state_dict`."""
        device = device_of(learner.solver.module)
        self.total = state["total"].to(device) if state else None
        self.steps = state.get("steps", 0)


def gradient_norm(module: nn.Module) -> Tensor:
    """Return the Euclidean norm of the gradients of all parameters together, a scalar."""
    gradients = [value.grad for value in module.parameters() if value.grad is not None]
    norm: Tensor = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
    return norm
