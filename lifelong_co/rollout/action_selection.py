"""The options of decoding, and the choice of an action from a behavior."""

from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.errors import ConfigError
from lifelong_co.protocols import Decode, Observer
from lifelong_co.tensors.precision import not_half
from lifelong_co.tensors.probabilities import probabilities
from lifelong_co.validators import at_least


def _known(_: object, __: object, value: Any) -> None:
    if value not in ("greedy", "sample"):
        raise ConfigError(f"decode: expected 'greedy' or 'sample', got {value!r}")


@attrs.frozen(eq=False)
class Decoding:
    """The options of decoding: all inputs of a rollout except instances and forced actions.

    Raises
    ------
    ConfigError
        If ``decode`` is neither ``greedy`` nor ``sample``, or ``trajectories`` is no whole number
        of at least 1.
    """

    decode: Decode = attrs.field(default="greedy", validator=_known)
    """``greedy`` takes the likeliest action, ``sample`` draws one."""
    trajectories: int = attrs.field(default=1, validator=at_least(1), kw_only=True)
    """The number of trajectories ``S`` per instance, at least 1."""
    generator: torch.Generator | None = attrs.field(default=None, kw_only=True)
    """The random stream of ``sample``; None: torch's global stream."""
    observe: Observer | None = attrs.field(default=None, kw_only=True)
    """Called with ``(state, log_probs)`` at every step that is not forced."""


def with_default(
    default: int, decode: Decode = "greedy", *, trajectories: int | None = None, **options: Any
) -> Decoding:
    """Return the options of decoding; ``trajectories=None`` becomes ``default``."""
    S = default if trajectories is None else trajectories
    return Decoding(decode, trajectories=S, **options)


@torch.no_grad()
def pick(log_probs: Tensor, decode: Decode, generator: torch.Generator | None = None) -> Tensor:
    """Return an action long ``[B, S]`` from log-probabilities ``[B, S, A]``.

    Sampling inverts the cumulative distribution. It has two advantages over `torch.multinomial`:
    it draws one uniform number per trajectory instead of one per action, and it never takes an
    action of probability zero, which `torch.multinomial` may do in single precision.

    Where a state has no behavior, because log-probabilities are NaN or all of them -inf, the result
    is some action from 0 to ``A - 1``. Its log-probability is then NaN or -inf, and so are the
    rollout's log-likelihood and the policy loss.
    """
    if decode == "greedy":
        return log_probs.argmax(dim=2)
    cumulative = probabilities(not_half(log_probs)).cumsum_(dim=2)
    total = cumulative[..., -1:]
    uniform = torch.rand(total.shape, dtype=total.dtype, device=total.device, generator=generator)
    # The factor keeps the threshold below the total; rounding could make them equal.
    threshold = uniform * (total * (1 - 2 * torch.finfo(total.dtype).eps))
    found = torch.searchsorted(cumulative, threshold, right=True).squeeze(2)
    return found.clamp_(max=log_probs.shape[2] - 1)  # above it only if there is no behavior
