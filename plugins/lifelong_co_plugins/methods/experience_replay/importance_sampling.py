"""Which instances of the sampled bundles are replayed, if not all of them.

They are drawn in proportion to what they weigh in the consolidation loss, and then count alike. The
expected loss is that of all instances. Weights of instances differ much, so this takes half as many
instances as a uniform choice for the same precision (measured: docs/performance.md).
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def by_weight(
    weights: Sequence[Tensor], share: float, start: float
) -> list[tuple[Tensor, Tensor] | None]:
    """Draw rows by systematic sampling; the expected factor of each row is 1.

    Parameters
    ----------
    weights
        The weights of each bundle's rows, ``[B]``, at least 0.
    share
        The share of all rows to draw, in ``(0, 1]``; at least one row is drawn. A row may be drawn
        more than once.
    start
        Uniform in ``[0, 1)``: the place of the first draw.

    Returns
    -------
    For each bundle the drawn rows, long ``[b]`` in ascending order, and the factors ``[b]`` of
    their weights, with which they stand for all rows. None for a bundle without a drawn row.
    """
    each = torch.cat([weight.detach() for weight in weights]).double().cpu()
    count = max(1, round(share * len(each)))
    if not bool(each.any()):  # all certain: all rows are alike
        each = torch.ones_like(each)
    upto = each.cumsum(dim=0)
    total, last = float(upto[-1]), int(each.nonzero().max())
    steps = torch.arange(count, dtype=torch.double, device=each.device)
    places = (steps + start) * (total / count)
    drawn = torch.searchsorted(upto, places, right=True).clamp(max=last)
    times = torch.bincount(drawn, minlength=len(each)).double()
    factors = times * (total / count) / torch.where(times > 0, each, 1.0)
    rows = [often.nonzero().squeeze(1) for often in times.split([len(w) for w in weights])]
    counts = [len(own) for own in rows]
    # Moved to a GPU at once.
    moved = torch.cat(rows).to(weights[0].device), factors[times > 0].to(weights[0])
    pairs = zip(*(each.split(counts) for each in moved), strict=True)
    return [pair if len(pair[0]) else None for pair in pairs]
