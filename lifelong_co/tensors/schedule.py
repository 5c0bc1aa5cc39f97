"""How the learning rate falls in the steps of a task.

The factor of a step depends only on the share of the task's steps that came before it, so nothing
has to be saved: a resumed run continues at the same rate. Only the step uses the lower rate. The
optimizer keeps the rate of the epoch, which `learning_rate_decay` lowers.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

CONSTANT = "constant"

SCHEDULES: dict[str, Callable[[float], float]] = {
    CONSTANT: lambda share: 1.0,  # noqa: ARG005
    "cosine": lambda share: (1 + math.cos(math.pi * share)) / 2,
    "linear": lambda share: 1 - share,
}
"""The factor of the learning rate, in ``[0, 1]``, for the share of finished steps, in ``[0, 1]``.

``cosine`` is that of Loshchilov and Hutter 2017 (SGDR, eq. 5) without restarts in a task.
"""


@contextmanager
def scaled_rate(optimizer: torch.optim.Optimizer, factor: float) -> Iterator[None]:
    """Multiply the learning rate by a factor for a block, and restore it after the block."""
    rates = [group["lr"] for group in optimizer.param_groups]
    for group in optimizer.param_groups:
        group["lr"] *= factor
    try:
        yield
    finally:
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
