"""Residual connections of an encoder layer, with the normalisations of POMO and Omni-VRP."""

from collections.abc import Callable

import torch
from torch import Tensor, nn


class ReZero(nn.Module):
    """The learned factor of the change, 0 at first (ReZero, Bachlechner et al. 2021)."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(1))


NORMALIZATIONS: dict[str, Callable[[int], nn.Module]] = {
    "instance": lambda width: nn.InstanceNorm1d(width, affine=True),
    "batch": nn.BatchNorm1d,
    # Normalises over the batch in evaluation, too: there the result for an instance depends on the
    # other instances of the batch.
    "batch_no_track": lambda width: nn.BatchNorm1d(width, track_running_stats=False),
    "rezero": lambda width: ReZero(),  # noqa: ARG005
    "none": lambda width: nn.Identity(),  # noqa: ARG005
}
"""The names of Omni-VRP, each with a function from a width to a module."""


def join(norm: nn.Module, nodes: Tensor, change: Tensor) -> Tensor:
    """Add a change to the nodes, each ``[B, A, embedding_dim]``, and normalise."""
    match norm:
        case nn.InstanceNorm1d():  # each channel over an instance's actions
            return norm((nodes + change).transpose(1, 2)).transpose(1, 2)  # type: ignore[no-any-return]
        case nn.BatchNorm1d():  # each channel over the actions of all instances
            return norm((nodes + change).flatten(0, 1)).view_as(nodes)  # type: ignore[no-any-return]
        case ReZero():
            return nodes + norm.scale * change
        case _:
            return nodes + change
