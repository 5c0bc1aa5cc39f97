"""One decision of the official INViT: its encoders and decoder, called for any state.

The official ``forward`` builds whole solutions and does not give access to its state. So this
module does the work between the official submodules. A *view* is the list of nodes that one encoder
sees: the nearest of the remaining nodes, then the last node and the first one (CVRP: the depot).
The ``R`` rows are all trajectories of all instances, ``R = B * S``.
"""

from collections.abc import Sequence
from typing import Any

import attrs
import torch
from torch import Tensor

from lifelong_co.problems.cvrp import CVRP, CVRPInstances, CVRPState
from lifelong_co.problems.tsp import TSPInstances, TSPState
from lifelong_co_adapters.official.neighbors import nearest


@attrs.frozen
class Sizes:
    """How many neighbors each view has."""

    action_k: int
    """The number of candidates of the decoder."""
    state_k: tuple[int, ...]
    """The number for each state encoder, at least ``action_k``."""


def tsp_log_probs(module: Any, sizes: Sizes, instances: TSPInstances, state: TSPState) -> Tensor:
    """Return ``[B, S, A]``; uniform before the first action, which the official code draws."""
    B, S, n = state.visited.shape
    nodes = instances.nodes.repeat_interleave(S, dim=0)  # [R, n, 2]
    last, first = state.current.clamp(min=0).reshape(-1), state.first.clamp(min=0).reshape(-1)
    unvisited = ~state.visited.reshape(B * S, n)
    # Views become smaller when few nodes are left. Rows with fewer nodes than others are padded
    # with the last node: it does not change the frame of a view, and attention ignores it.
    left = max(1, int(unvisited.sum(dim=1).max()))
    here, start = pick(nodes, last), pick(nodes, first)
    near, padded = nearest(nodes, here[:, 0], unvisited, min(max(sizes.state_k), left), last)

    k = min(sizes.action_k, left)
    seen = module.action_encoder(nodes, near[:, :k].contiguous(), here, mask=padded[:, :k])
    query, candidates = [seen[:, k:]], [seen[:, :k]]
    open_ = padded.new_zeros(B * S, 2)  # the last and the first node are never masked
    for encoder, state_k in zip(module.state_encoders, sizes.state_k, strict=True):
        width = min(state_k, left)
        mask = torch.cat((padded[:, :width], open_), dim=1)[:, None]
        seen = encoder(nodes, near[:, :width].contiguous(), here, start, mask=mask)
        query += [seen[:, width : width + 1], seen[:, width + 1 :]]
        candidates.append(seen[:, :k])

    chosen = decide(module, query, candidates, padded[:, :k])
    log_probs = spread(chosen, near[:, :k], padded[:, :k], n).view(B, S, n)
    uniform = torch.zeros_like(log_probs).masked_fill(state.visited, -torch.inf).log_softmax(dim=2)
    return torch.where(state.current[..., None] < 0, uniform, log_probs)


def cvrp_log_probs(
    module: Any, sizes: Sizes, instances: CVRPInstances, state: CVRPState, *, strict_capacity: bool
) -> Tensor:
    """Return ``[B, S, A]``.

    A customer with demand 0 is visited like any other; the official ``forward`` leaves it out.
    """
    B, S, A = state.visited.shape
    R, n = B * S, A - 1
    nodes = instances.nodes.repeat_interleave(S, dim=0)  # [R, n, 2]
    depot = instances.depot.repeat_interleave(S, dim=0)  # [R, 1, 2]
    current, load = state.current.reshape(R), state.load.reshape(R, 1)
    here = pick(torch.cat((depot, nodes), dim=1), current)
    unserved = ~state.visited.reshape(R, A)[:, 1:]
    # The demand of visited customers is 0. This matters only for `batchnorm`, in the padding.
    demand = instances.demand.repeat_interleave(S, dim=0).masked_fill(~unserved, 0.0)  # [R, n]

    # The official code pads a view that has too few customers with the last node; at the depot
    # with customer -1, which Python takes as the last one. The padding is masked, but its
    # coordinates count in the frame of the view.
    filler = current - 1
    feasible = CVRP().strictly_feasible if strict_capacity else CVRP().feasible
    within = feasible(instances, state)[..., 1:].reshape(R, n)
    k = sizes.action_k
    near, near_padded = nearest(nodes, here[:, 0], within, k, filler)
    listed = torch.zeros_like(state.visited.reshape(R, A))
    listed = listed.scatter(1, near.masked_fill(near_padded, n), True)[:, :n]
    more, more_padded = nearest(
        nodes, here[:, 0], unserved & ~listed, max(sizes.state_k) - k, filler
    )
    index, padded = torch.cat((near, more), dim=1), torch.cat((near_padded, more_padded), dim=1)

    query: list[Tensor] = []
    candidates: list[Tensor] = []
    encoders = (module.action_encoder, *module.state_encoders)
    for encoder, width in zip(encoders, (k, *sizes.state_k), strict=True):
        seen = encoder(
            nodes,
            index[:, :width].contiguous(),
            here,
            depot,
            demand,
            load,
            encoder_mask=padded[:, :width],
        )
        query += [seen[:, width : width + 1], seen[:, width + 1 :]]
        candidates.append(torch.cat((seen[:, :k], seen[:, width + 1 :]), dim=1))

    stay = (current == 0) & unserved.any(dim=1)
    masked = torch.cat((near_padded, stay[:, None]), dim=1)  # the depot is the last candidate
    chosen = decide(module, query, candidates, masked)
    customers = spread(chosen[:, :k], near, near_padded, n)
    return torch.cat((chosen[:, k:], customers), dim=1).view(B, S, A)


def pick(points: Tensor, index: Tensor) -> Tensor:
    """Return point ``index`` long ``[R]`` of ``points [R, n, 2]`` as ``[R, 1, 2]``."""
    return points.gather(1, index[:, None, None].expand(-1, 1, points.shape[2]))


def decide(
    module: Any, query: Sequence[Tensor], candidates: Sequence[Tensor], masked: Tensor
) -> Tensor:
    """Run the official decoder.

    Parameters
    ----------
    module
        The official network.
    query
        The encoded tokens that describe the state, ``[R, 1, dim_emb]`` each.
    candidates
        The output of each encoder for the ``k`` candidates, ``[R, k, dim_emb]``.
    masked
        Bool ``[R, k]``: the candidates that may not be chosen.

    Returns
    -------
    Log-probabilities ``[R, k]``, -inf and without gradient where masked.
    """
    joined = torch.cat(tuple(candidates), dim=2)
    probs: Tensor = module.decoder(
        module.query_mlp(torch.cat(tuple(query), dim=2)),
        module.WK_att_decoder(joined),
        module.WV_att_decoder(joined),
        masked,
    )
    return probs.masked_fill(masked, 1.0).log().masked_fill(masked, -torch.inf)


def spread(log_probs: Tensor, index: Tensor, padded: Tensor, n: int) -> Tensor:
    """Return ``[R, n]``: the candidates' log-probabilities at their nodes, -inf elsewhere.

    Parameters
    ----------
    log_probs, index, padded
        ``[R, k]`` each: the log-probabilities, the nodes (long), and the padding (bool).
    n
        The number of nodes.
    """
    everywhere = log_probs.new_full((len(log_probs), n + 1), -torch.inf)
    return everywhere.scatter(1, index.masked_fill(padded, n), log_probs)[:, :n]
