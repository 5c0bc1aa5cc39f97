"""Which instances of the sampled units are replayed, where it is not all of them.

``uniform``: each as likely as any other, as many of each unit. ``weight``: in proportion to what
they weigh in the consolidation loss, each then counting alike. Both mean the loss of all instances,
but rows differ much in weight, so that by weight half as many rows are as precise (measured:
docs/performance.md).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

CHOICES = ("weight", "uniform")


def by_weight(
    weights: Sequence[Tensor], share: float, start: float
) -> list[tuple[Tensor, Tensor] | None]:
    """Choose rows by systematic sampling; the expectation of their factors is 1 each.

    Parameters
    ----------
    weights
        What each row weighs, ``[B]`` for each unit, at least 0.
    share
        Of all rows, in ``(0, 1]``: how many are drawn, at least one. One may be drawn repeatedly.
    start
        In ``[0, 1)``, uniform: where the first falls.

    Returns
    -------
    For each unit the rows drawn, long ``[b]`` in ascending order, and the factors ``[b]`` that make
    up for the others; None where none was drawn.
    """
    each = torch.cat([weight.detach().double().cpu() for weight in weights])
    count = max(1, round(share * len(each)))
    if not bool(each.any()):  # all certain: whichever
        each = torch.ones_like(each)
    upto = each.cumsum(dim=0)
    total, last = float(upto[-1]), int(each.nonzero().max())
    places = (torch.arange(count, dtype=torch.double) + start) * (total / count)
    drawn = torch.searchsorted(upto, places, right=True).clamp(max=last)
    times = torch.bincount(drawn, minlength=len(each)).double()
    factors = times * (total / count) / torch.where(times > 0, each, 1.0)
    found: list[tuple[Tensor, Tensor] | None] = []
    for weight, often, factor in zip(
        weights,
        times.split([len(weight) for weight in weights]),
        factors.split([len(weight) for weight in weights]),
        strict=True,
    ):
        rows = often.nonzero().squeeze(1)
        chosen = rows.to(weight.device), factor[rows].to(weight)
        found.append(chosen if len(rows) else None)
    return found
