"""Taking an action from a behavior."""

import torch
from torch import Tensor

from lifelong_co.protocols import Decode
from lifelong_co.tensors.probabilities import probabilities


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
