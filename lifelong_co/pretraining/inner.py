"""Optimizer steps as functions of tensors, so that MAML can differentiate through them."""

from collections.abc import Callable, Mapping

import attrs
import torch
from torch import Tensor

Parameters = dict[str, Tensor]
"""The parameters of a module by name, or their gradients by name."""

Step = Callable[[Parameters, Parameters], Parameters]
"""Takes parameters and their gradients and returns new parameters; it may keep a state."""

BETAS, EPSILON = (0.9, 0.999), 1e-8  # the defaults of torch's Adam
# Added under Adam's square root: its derivative at 0 is infinite, which gives NaN gradients.
TINY = 1e-32


@attrs.frozen
class Moments:
    """The state of Adam before its next step."""

    steps: int
    """Finished steps."""
    first: Parameters
    """Running mean of the gradients."""
    second: Parameters
    """Running mean of the squared gradients."""


@attrs.frozen
class Inner:
    """How a solver adapts to one task.

    Parameters
    ----------
    optimizer
        ``adam`` or ``sgd``.
    learning_rate
        Above 0.
    weight_decay
        At least 0; added to the gradients as in `torch.optim.Adam`.
    steps
        ``k``, at least 1.
    """

    optimizer: str
    learning_rate: float
    weight_decay: float
    steps: int

    def begin(self, moments: Moments | None = None) -> Step:
        """Return the step of a new optimizer; an Adam starts with these moments."""
        if self.optimizer == "sgd":
            return lambda parameters, gradients: sgd(
                parameters, decayed(parameters, gradients, self.weight_decay), self.learning_rate
            )
        past = moments

        def step(parameters: Parameters, gradients: Parameters) -> Parameters:
            nonlocal past
            decaying = decayed(parameters, gradients, self.weight_decay)
            moved, past = adam(parameters, decaying, self.learning_rate, past)
            return moved

        return step


def decayed(parameters: Parameters, gradients: Parameters, weight_decay: float) -> Parameters:
    """Return the gradients plus those of the penalty ``weight_decay / 2 * |parameters|^2``."""
    return {
        name: gradient + weight_decay * parameters[name] for name, gradient in gradients.items()
    }


def sgd(parameters: Parameters, gradients: Parameters, learning_rate: float) -> Parameters:
    """Return ``theta - learning_rate * g``."""
    return {name: value - learning_rate * gradients[name] for name, value in parameters.items()}


def adam(
    parameters: Parameters,
    gradients: Parameters,
    learning_rate: float,
    past: Moments | None = None,
) -> tuple[Parameters, Moments]:
    """Take a step of Adam (Kingma & Ba 2015, algorithm 1).

    Returns
    -------
    The new parameters and moments; both can be differentiated by the gradients.
    """
    steps = 1 if past is None else past.steps + 1
    moved, first, second = {}, {}, {}
    for name, value in parameters.items():
        gradient = gradients[name]
        first[name] = (1 - BETAS[0]) * gradient
        second[name] = (1 - BETAS[1]) * gradient.square()
        if past is not None:
            first[name] = first[name] + BETAS[0] * past.first[name]
            second[name] = second[name] + BETAS[1] * past.second[name]
        root = (second[name] / (1 - BETAS[1] ** steps) + TINY).sqrt()
        direction = first[name] / (1 - BETAS[0] ** steps) / (root + EPSILON)
        moved[name] = value - learning_rate * direction
    return moved, Moments(steps, first, second)


def moments_of(
    optimizer: torch.optim.Optimizer, parameters: Mapping[str, Tensor]
) -> Moments | None:
    """Return the moments of an Adam; None before its first step, and for other optimizers."""
    states = {name: optimizer.state.get(value, {}) for name, value in parameters.items()}
    if not all("exp_avg" in state for state in states.values()):
        return None
    return Moments(
        steps=max(int(state["step"]) for state in states.values()),
        first={name: state["exp_avg"].detach() for name, state in states.items()},
        second={name: state["exp_avg_sq"].detach() for name, state in states.items()},
    )
