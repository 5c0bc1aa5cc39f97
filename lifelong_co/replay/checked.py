"""Weightings and divergences whose results are checked; a wrong one is refused by its name.

Each is tried once before it is used, so that a run does not learn a task before it is refused.
Shapes are checked at every call, values at every call on a CPU and at the first one on a GPU, where
a check waits for the device. If a network gives NaN, its component is not to blame: then the values
are not refused here, and the loss that they lead to stops the run.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co import registry
from lifelong_co.errors import ComponentError, ConfigError
from lifelong_co.protocols import Divergence, Weighting
from lifelong_co.tensors.probabilities import probabilities

# Rounding may leave ``1 - p`` so far below 0 (`tensors.probabilities`).
ROUNDING = 1e-4


@attrs.define(eq=False)
class CheckedWeighting:
    """A weighting that refuses weights of a wrong shape, negative weights and NaN."""

    label: str
    function: Weighting
    _checked: bool = False

    def __call__(self, probs: Tensor) -> Tensor:
        """Return ``w(e)``, ``[..., A] -> [...]``, in at least single precision.

        The loss adds up the weights of all states. In half precision their sum is soon infinite.

        Raises
        ------
        ComponentError
            If the weights are wrong; the message names the weighting.
        """
        weights = self.function(probs)
        _require_shape(self.label, "weights", weights, probs)
        if weights.numel() and not (probs.is_cuda and self._checked):
            self._checked = True
            low, high = weights.detach().aminmax()
            sound = float(low) >= -ROUNDING and float(high) < torch.inf  # False for NaN
            if not sound and not bool(probs.isnan().any()):
                raise ComponentError(
                    f"{self.label}: expected finite weights of at least 0, got {float(low):g} to "
                    f"{float(high):g}"
                )
        return weights.to(torch.promote_types(weights.dtype, torch.float32))


@attrs.define(eq=False)
class CheckedDivergence:
    """A divergence that refuses wrong shapes, no gradients, distances below 0, and NaN."""

    label: str
    function: Divergence
    _checked: bool = False

    def __call__(self, teacher: Tensor, learner: Tensor) -> Tensor:
        """Return ``D(e)``, ``[..., A] x [..., A] -> [...]``.

        Raises
        ------
        ComponentError
            If the result is wrong; the message names the divergence.
        ConfigError
            If teacher and learner differ in shape: a broadcast would compare other states.
        """
        if teacher.shape != learner.shape:
            raise ConfigError(
                f"{self.label}: expected log-probs of the learner of shape {list(teacher.shape)},"
                f" as those of the teacher, got {list(learner.shape)}"
            )
        found = self.function(teacher, learner)
        _require_shape(self.label, "distances", found, teacher)
        if torch.is_grad_enabled() and learner.requires_grad and not found.requires_grad:
            raise ComponentError(
                f"{self.label}: expected a result that depends on the learner, got one without "
                "gradients"
            )
        if not (found.is_cuda and self._checked):
            self._checked = True
            self._require_sound(found.detach(), teacher.detach(), learner.detach())
        return found

    def _require_sound(self, found: Tensor, teacher: Tensor, learner: Tensor) -> None:
        finite = found.isfinite()
        if not bool(finite.all()):
            if not bool((teacher.isnan() | learner.isnan()).any()):
                value = float(found[~finite][0])
                raise ComponentError(f"{self.label}: expected finite distances, got {value}")
            return
        if not found.numel() or float(found.min()) >= -ROUNDING:
            return
        # A sum of probabilities that rounding leaves below or above 1 allows as much below 0.
        least = -ROUNDING - missing(teacher) - missing(learner)
        if bool((found < least).any()):
            value = float(found[found < least][0])
            raise ComponentError(f"{self.label}: expected distances of at least 0, got {value:g}")


def missing(log_probs: Tensor) -> Tensor:
    """Return how far the probabilities of each state are from a sum of 1, ``[...]``."""
    return (probabilities(log_probs.float()).sum(dim=-1) - 1).abs()


def checked_weighting(chosen: str | Weighting, guard: float | None = None) -> Weighting:
    """Return a registered weighting, or a function, with checks of its results.

    A guard is given to a function that has a parameter ``guard``.

    Raises
    ------
    ComponentError
        If its weights of a small example are wrong.
    """
    function = registry.weighting(chosen) if isinstance(chosen, str) else chosen
    named = label("weighting", chosen)
    checked = CheckedWeighting(named, _called(named, function, guard, "(probs)", 1))
    with torch.random.fork_rng(devices=()):
        attrs.evolve(checked)(_example().exp())
    return checked


def checked_divergence(chosen: str | Divergence, guard: float | None = None) -> Divergence:
    """Return a registered divergence, or a function, with checks of its results.

    A guard is given to a function that has a parameter ``guard``.

    Raises
    ------
    ComponentError
        If its distances of a small example are wrong.
    """
    function = registry.divergence(chosen) if isinstance(chosen, str) else chosen
    named = label("divergence", chosen)
    checked = CheckedDivergence(named, _called(named, function, guard, "(teacher, learner)", 2))
    with torch.random.fork_rng(devices=()), torch.enable_grad():
        attrs.evolve(checked)(_example(), _example().flip(-1).requires_grad_())
    return checked


def _example() -> Tensor:
    """Return log-probs of two instances, three trajectories and five actions."""
    return torch.linspace(-1.0, 1.0, 30, device="cpu").view(2, 3, 5).sin().log_softmax(dim=-1)


def _called(label: str, function: Any, guard: float | None, wanted: str, count: int) -> Any:
    """Return a function of ``count`` arguments; it gets the guard if it has such a parameter."""
    if not callable(function):
        raise ComponentError(f"{label}: expected a registered name or a function {wanted}")
    try:
        signature = inspect.signature(function)
    except ValueError:  # some compiled functions have no signature
        return function
    fixed = {"guard": guard} if guard is not None and "guard" in signature.parameters else {}
    try:
        signature.bind(*[None] * count, **fixed)
    except TypeError as error:
        raise ComponentError(
            f"{label}: expected a function {wanted} without further required arguments, got"
            f" {signature} ({error}); functools.partial fixes one"
        ) from error
    return functools.partial(function, **fixed) if fixed else function


def label(kind: str, chosen: str | Callable[..., Any]) -> str:
    """Return how errors name a component: by its registered name, or that of the function."""
    name = chosen if isinstance(chosen, str) else getattr(chosen, "__name__", type(chosen).__name__)
    return f"{kind} {name!r}"


def _require_shape(label: str, what: str, result: object, behavior: Tensor) -> None:
    expected = list(behavior.shape[:-1])
    if isinstance(result, Tensor) and list(result.shape) == expected:
        return
    got = list(result.shape) if isinstance(result, Tensor) else f"{result!r:.80}"
    raise ComponentError(
        f"{label}: expected {what} of shape {expected} for behavior of shape "
        f"{list(behavior.shape)}, got {got}"
    )
