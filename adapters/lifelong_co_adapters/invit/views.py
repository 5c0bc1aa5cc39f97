"""The views of INViT: nested lists of the nearest nodes, each scaled to a frame of its points.

Each of the ``N`` rows is a state. Its list begins with the candidates, the ``action_k`` nearest
nodes that may be visited next; the nearest other unfinished nodes follow. Each view is a prefix of
this list, together with the last node and the anchor (TSP: the first node; CVRP: the depot).

Lists differ in length. Shorter ones are padded, and padding is hidden from attention. The official
code leaves gaps between candidates and other nodes instead; attention does not depend on the order.
"""

import attrs
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

# Added to the score of a token, this hides it: its attention weight underflows to 0.
HIDDEN = -1e9


@attrs.frozen(eq=False)
class Lists:
    """The nearest nodes of every row."""

    nodes: Tensor  # long [N, W]
    candidates: Tensor  # long [N, 1]: how many nodes at the beginning are candidates
    unfinished: Tensor  # long [N, 1]: how many nodes are not padding
    width: int  # the most candidates of any row, at least 1


def nearest(
    points: Tensor, last: Tensor, *, reachable: Tensor, unfinished: Tensor, action_k: int
) -> Lists:
    """List the unfinished nodes of every row, candidates first, each part nearest first.

    Parameters
    ----------
    points
        ``[N, A, 2]``.
    last
        Long ``[N]``: the node from which distances are measured. Of two nodes at equal distance,
        the one with the lower number comes first.
    reachable
        Bool ``[N, A]``: the nodes that may be candidates if they are unfinished.
    unfinished
        Bool ``[N, A]``.
    action_k
        The largest number of candidates.
    """
    A = points.shape[1]
    here = points.gather(1, last[:, None, None].expand(-1, -1, 2))
    far = (points - here).square().sum(dim=2).masked_fill(~unfinished, torch.inf)  # [N, A]
    count = unfinished.sum(dim=1, keepdim=True)
    # Sorting all distances once per batch would not be faster: a trajectory needs the distances
    # from each node only once.
    order = far.sort(dim=1, stable=True).indices
    on_cpu = order.device.type == "cpu"  # on other devices, reading a number would wait
    if on_cpu:
        order = order[:, : max(1, int(count.max()))]
    candidate = (reachable & unfinished).gather(1, order)
    before = candidate.cumsum(dim=1)  # how many reachable nodes are at least as near
    candidate = candidate & (before <= action_k)
    before = before.clamp(max=action_k)
    candidates = before[:, -1:]
    position = torch.arange(order.shape[1], device=order.device)
    slot = torch.where(candidate, before - 1, position - before + candidates)
    return Lists(
        nodes=torch.empty_like(order).scatter_(1, slot, order),
        candidates=candidates,
        unfinished=count,
        width=max(1, int(candidates.max())) if on_cpu else min(action_k, A),
    )


@attrs.frozen(eq=False)
class Tokens:
    """Each row's tokens: ``width`` candidates, last node, anchor, other nodes."""

    lists: Lists
    points: Tensor  # [N, T, 2], in the instance's coordinates
    scalars: Tensor  # [N, T, k]: of nodes and depots their features; of the last node the state's
    gap: Tensor  # [N, 1, 2]: a point that the frame includes if a list has gaps


def tokens(
    lists: Lists,
    table: Tensor,
    *,
    instance: Tensor,
    last: Tensor,
    anchor: Tensor,
    scalars: Tensor | None,
    longest: int,
    depots: int,
) -> Tokens:
    """Gather the tokens of every row.

    Parameters
    ----------
    lists
        The nodes of every row, from `nearest`.
    table
        ``[B, A, 2 + k]``, coordinates and features of every action, filled up with zeros.
    instance
        Long ``[N]``, the instance of each row.
    last, anchor
        Long ``[N]``, actions.
    scalars
        ``[N, s]``, of the state, ``s <= k``; None if ``s = 0``.
    longest
        The length of the longest list.
    depots
        How many actions are depots, 0 or 1; they come first.
    """
    _, A, features = table.shape
    # The official code fills gaps with the number of the last node, counted from the first
    # customer. At the depot this number is -1, which means the last customer.
    gap = torch.where(last < depots, A - 1, last) if depots else last
    own, k = torch.stack((last, anchor, gap), dim=1), features - 2
    nodes, w = lists.nodes[:, :longest], lists.width
    index = torch.cat((nodes[:, :w], own[:, :2], nodes[:, w:], own[:, 2:]), dim=1)
    found = F.embedding(index + A * instance[:, None], table.view(-1, features))
    found[:, w, 2:] = 0 if scalars is None else F.pad(scalars, (0, k - scalars.shape[1]))
    if not depots:
        found[:, w + 1, 2:] = 0  # the anchor is the first node
    return Tokens(
        lists=lists, points=found[:, :-1, :2], scalars=found[:, :-1, 2:], gap=found[:, -1:, :2]
    )


def view(seen: Tokens, *, lengths: Tensor, action_k: int, clamped: bool) -> Tensor:
    """Return the features of the tokens in each view, with a block for each kind of token.

    Parameters
    ----------
    seen
        The tokens of every row.
    lengths
        Long ``[V, 1, 1]``: the length of each view's list; ``action_k`` for candidates only.
    action_k
        The largest number of candidates.
    clamped
        Whether points outside a frame, e.g. the anchor, move to its edge.

    Returns
    -------
    ``[V, N, T, 3 * (3 + k) + 1]``. The block of the token's kind (node, last, anchor) has its
    coordinates within the frame, its scalars and 1; the other blocks are 0. The last feature is
    `HIDDEN` for tokens outside the view, otherwise 0.
    """
    lists, w = seen.lists, seen.lists.width
    token = torch.arange(seen.points.shape[1], device=lengths.device)
    slot = torch.where(token < w, token, token - 2)
    own = (token == w) | (token == w + 1)  # last and anchor
    others = lists.unfinished - lists.candidates
    shown = lists.candidates + torch.minimum(others, lengths - action_k)  # [V, N, 1]
    hidden = (slot >= shown) & ~own  # [V, N, T]
    points = framed(
        seen.points,
        last=seen.points[:, w : w + 1],
        aside=hidden | (token == w + 1),
        gap=torch.where((shown < lengths)[..., None], seen.gap, seen.points[:, w : w + 1]),
    )
    if clamped:
        points = points.clamp(0, 1)
    rest = torch.cat((seen.scalars, torch.ones_like(seen.points[..., :1])), dim=2)
    features = torch.cat((points, rest.expand(len(lengths), -1, -1, -1)), dim=3)
    kind = torch.stack((~own, token == w, token == w + 1), dim=1).to(features.dtype)
    blocks = features[..., None, :] * kind[..., None]  # [V, N, T, 3, 3 + k]
    return torch.cat((blocks.flatten(3), HIDDEN * hidden[..., None].to(features.dtype)), dim=3)


def framed(points: Tensor, *, last: Tensor, aside: Tensor, gap: Tensor) -> Tensor:
    """Return coordinates ``[V, N, T, 2]`` in the frame of each view.

    The frame is a square from the least coordinates on, as wide as the larger range of the two
    axes. It includes ``gap`` and all points except those ``aside``.

    Parameters
    ----------
    points
        ``[N, T, 2]``.
    last
        ``[N, 1, 2]``, a point of every frame.
    aside
        Bool ``[V, N, T]``: the points that do not count.
    gap
        ``[V, N, 1, 2]``.
    """
    inside = torch.where(aside[..., None], last, points)
    low = torch.minimum(inside.amin(dim=2, keepdim=True), gap)
    high = torch.maximum(inside.amax(dim=2, keepdim=True), gap)
    size = (high - low).amax(dim=3, keepdim=True)
    return (points - low) / torch.where(size > 0, size, 1)
