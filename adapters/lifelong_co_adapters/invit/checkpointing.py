"""How much of a rollout is kept for its backward pass; the rest is computed a second time there.

INViT encodes at every step, so what a training step keeps grows with the square of the nodes: 10
GiB for 64 instances of 100 nodes. Keeping only the inputs of some steps costs another
forward pass of them. The gradients are the same, bit for bit.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

# Tokens whose intermediate results a CPU keeps, some 14 KiB each with the default widths.
TOKENS = 190_000


class Checkpointing:
    """Counts the tokens that a rollout keeps.

    Parameters
    ----------
    limit
        The steps that exceed this many tokens are computed a second time.
    """

    def __init__(self, limit: int = TOKENS) -> None:
        self.limit = limit
        self.tokens = 0

    def call(self, function: Callable[..., Tensor], tokens: int, **inputs: Any) -> Tensor:
        """Return ``function(**inputs)``; keep what its backward pass needs, or only the inputs.

        Parameters
        ----------
        function
            It must give the same result when called again, and draw no random numbers.
        tokens
            How many tokens it encodes.
        """
        if not torch.is_grad_enabled():
            return function(**inputs)
        self.tokens += tokens
        if self.tokens <= self.limit:
            return function(**inputs)
        found = checkpoint(function, use_reentrant=False, preserve_rng_state=False, **inputs)
        assert isinstance(found, Tensor)
        return found
