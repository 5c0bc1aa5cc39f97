"""How a rollout decodes, and taking an action from a behavior."""

from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.errors import ConfigError
from lifelong_co.protocols import Decode, Observer
from lifelong_co.tensors.probabilities import probabilities


def _known(_: object, __: object, value: Any) -> None:
    if value not in ("greedy", "sample"):
        raise ConfigError(f"decode: expected 'greedy' or 'sample', got {value!r}")


def _positive(_: object, __: object, value: int) -> None:
    if value < 1:
        raise ConfigError(f"trajectories: expected at least 1, got {value}")


@attrs.frozen(eq=False)
class Decoding:
    """How to decode: what a rollout gets besides the instances and the forced actions.

    Raises
    ------
    ConfigError
        If ``decode`` is neither of the two, or ``trajectories`` is below 1.
    """

    decode: Decode = attrs.field(default="greedy", validator=_known)
    """``greedy`` takes the likeliest action, ``sample`` draws one."""
    trajectories: int = attrs.field(default=1, validator=_positive, kw_only=True)
    """``S``."""
    generator: torch.Generator | None = attrs.field(default=None, kw_only=True)
    """The random stream of ``sample``; None: torch's own."""
    observe: Observer | None = attrs.field(default=None, kw_only=True)
    """Called with ``(state, log_probs)`` at every step that is not forced."""


def with_default(
    default: int, decode: Decode = "greedy", *, trajectories: int | None = None, **options: Any
) -> Decoding:
    """Return how to decode, with ``default`` trajectories where none are asked for."""
    S = default if trajectories is None else trajectories
    return Decoding(decode, trajectories=S, **options)


@torch.no_grad()
def pick(log_probs: Tensor, decode: Decode, generator: torch.Generator | None = None) -> Tensor:
    """Return an action long ``[B, S]`` from log-probabilities ``[B, S, A]``.

    Sampling inverts the cumulative distribution: one uniform number per trajectory, where
    `torch.multinomial` draws one per action, and an action of probability zero is never taken,
    which `torch.multinomial` does not promise in single precision.
    """
    if decode == "greedy":
        return log_probs.argmax(dim=2)
    cumulative = probabilities(log_probs).cumsum(dim=2)
    total = cumulative[..., -1:]
    uniform = torch.rand(total.shape, dtype=total.dtype, device=total.device, generator=generator)
    # Kept strictly below the total, which rounding could otherwise reach.
    threshold = uniform * (total * (1 - 2 * torch.finfo(total.dtype).eps))
    return torch.searchsorted(cumulative, threshold, right=True).squeeze(2)
