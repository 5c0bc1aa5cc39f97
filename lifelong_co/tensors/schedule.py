"""How the learning rate changes in the steps of a task.

The factor of a step depends only on the steps that came before it, so nothing has to be saved: a
resumed run continues at the same rate. Only the step uses the changed rate. The optimizer keeps the
rate of the epoch, which `learning_rate_decay` lowers.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

CONSTANT = "constant"

OFFICIAL_TSP = "official-tsp"

WARM_UP = 0.1
"""The share of a task's steps in which ``warmup-linear`` rises; also the factor of its start."""

Schedule = Callable[[float, int], float]
"""Takes the share of finished epochs, in ``[0, 1]``, and the finished epochs of the run's first
optimizer (0 for later ones); returns the factor of the learning rate, in ``[0, 1]``. The steps of
the present epoch count as a fraction of it."""

SCHEDULES: dict[str, Schedule] = {
    CONSTANT: lambda share, epochs: 1.0,  # noqa: ARG005
    "cosine": lambda share, epochs: (1 + math.cos(math.pi * share)) / 2,  # noqa: ARG005
    "linear": lambda share, epochs: 1 - share,  # noqa: ARG005
    "warmup-linear": lambda share, epochs: min(  # noqa: ARG005
        WARM_UP + (1 - WARM_UP) * share / WARM_UP, (1 - share) / (1 - WARM_UP)
    ),
    OFFICIAL_TSP: lambda share, epochs: 1.0 if epochs < 190 else 0.1,  # noqa: ARG005
}
"""The schedules by name.

``cosine`` is that of Loshchilov and Hutter 2017 (SGDR, eq. 5) without restarts in a task.
``warmup-linear`` rises first (Goyal et al. 2017, arXiv 1706.02677): each task has a new optimizer.
``official-tsp`` is that of the official TSP code (LLR-BC at 9ae601f): a tenth from epoch 191 on.
Its scheduler stays at the first optimizer, and later tasks have new ones.
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
