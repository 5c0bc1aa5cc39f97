"""POMO's greedy decoding on a CPU without gradients, with few passes over the attention scores.

A training step keeps what its backward pass needs. A test needs only the next action, so here

- the scores of all pairs of nodes are computed once for a batch. A step looks them up for each head
  and changes them in place;
- the largest score of a node is subtracted once for a batch, because to search for it in each step
  takes as long as all other passes. `SAFE` bounds the error;
- weights are powers of two, and their sums divide the attention's output, which is smaller.

The log-probabilities are those of the network, except for rounding.
"""

import math
from typing import Any, cast

import attrs
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from lifelong_co.protocols import Context, Problem
from lifelong_co_adapters.pomo.decoder import Nodes, attend
from lifelong_co_adapters.pomo.masks import minus_infinity
from lifelong_co_adapters.pomo.network import Network
from lifelong_co_adapters.pomo.pointer import log_probs

# Between these bounds, a sum of weights is as precise as with the largest score subtracted: the
# smallest normal number of single precision is 2^-126.
SAFE = (2.0**-80, 2.0**80)
# The most scores of a batch that are kept (64 MiB).
SCORES = 2**24
# Products are faster if their number of columns is a multiple of this.
COLUMNS = 8


@attrs.frozen(eq=False)
class Pairs:
    """The scores of all pairs of nodes, as logarithms to base 2 of attention weights."""

    nodes: Nodes
    scores: dict[str, Tensor]  # role -> [B * H * A, A]: of the node in this role with every node
    scalars: Tensor | None  # [B, H, k, A]
    heads: Tensor  # long [B, H, 1]: the first row of each head in `scores`
    pointer_keys: Tensor  # [B, H * d, A'], with columns of zeros up to a multiple of `COLUMNS`
    looked_up: dict[str, tuple[Tensor, Tensor]] = attrs.field(factory=dict)
    """Role -> its nodes ``[B, S]`` in the step before, and their scores ``[B, H, S, A]``."""


def pairs(nodes: Nodes) -> Pairs | None:
    """Return the scores of all pairs of nodes; None if they are more than `SCORES`."""
    B, H, A, d = nodes.keys.shape
    if B * H * A * A > SCORES:
        return None
    keys = nodes.keys.transpose(2, 3) * (1 / math.sqrt(d) / math.log(2))  # [B, H, d, A]
    scores, scalars = {}, None
    for role, query in nodes.queries.items():
        found = query.view(B, A, H, d).transpose(1, 2) @ keys
        scores[role] = found.sub_(found.amax(dim=3, keepdim=True)).view(-1, A)
    if nodes.scalars is not None:
        scalars = nodes.scalars.view(-1, H, d).transpose(0, 1) @ keys
    heads = torch.arange(0, B * H * A, A, device=keys.device).view(B, H, 1)
    return Pairs(nodes, scores, scalars, heads, F.pad(nodes.pointer_keys, (0, -A % COLUMNS)))


def decide(pairs: Pairs, context: Context, feasible: Tensor, clipping: float) -> Tensor:
    """Return log-probabilities ``[B, S, A]``, -inf where ``feasible`` bool is False."""
    nodes = pairs.nodes
    forbid = minus_infinity(~feasible, nodes.keys.dtype)
    weights = weigh(pairs, context, forbid)
    total = weights.sum(dim=3, keepdim=True)
    least, most = (float(each) for each in total.aminmax())
    if SAFE[0] < least and most < SAFE[1]:
        attended = (weights @ nodes.values).div_(total)  # [B, H, S, d]
        pointed = torch.bmm(attended.transpose(1, 2).flatten(2), pairs.pointer_keys)
        scores = pointed[..., : feasible.shape[2]] + nodes.pointer_bias
    else:
        scores = attend(nodes, context, feasible)
    return log_probs(scores, forbid, clipping, context.nowhere)


def weigh(pairs: Pairs, context: Context, forbid: Tensor) -> Tensor:
    """Return the attention weights before division, ``[B, H, S, A]``.

    ``forbid`` is -inf where an action is infeasible and 0 elsewhere, ``[B, S, A]``.
    """
    scores = look_up(pairs, "last", context.nodes["last"])
    for role in (role for role in pairs.scores if role != "last"):  # a tour's first node stays
        nodes, before = context.nodes[role], pairs.looked_up.get(role)
        if before is None or not torch.equal(before[0], nodes):
            before = pairs.looked_up[role] = nodes, look_up(pairs, role, nodes)
        scores.add_(before[1])
    if pairs.scalars is not None:
        for k, scalar in enumerate(cast(Tensor, context.scalars).unbind(dim=2)):
            scores.addcmul_(scalar[:, None, :, None], pairs.scalars[:, :, k, None])
    return scores.add_(forbid[:, None]).exp2_()


def look_up(pairs: Pairs, role: str, nodes: Tensor) -> Tensor:
    """Return the scores of the nodes ``[B, S]`` in a role, ``[B, H, S, A]``."""
    return F.embedding(nodes[:, None] + pairs.heads, pairs.scores[role])


@attrs.frozen(eq=False)
class Inference:
    """A network as a policy for decoding on a CPU without gradients; see the module."""

    problem: Problem
    module: Network

    def encode(self, instances: Any) -> Any:
        """Return the instances and what a step needs of them."""
        nodes = self.module.prepared(self.problem.features(instances))
        return instances, pairs(nodes) or self.module.tabulated(nodes)

    def log_probs(self, encoding: Any, state: Any) -> Tensor:
        """Return ``[B, S, A]``, -inf where an action is infeasible."""
        instances, nodes = encoding
        feasible, context = self.problem.feasible(instances, state), self.problem.context(state)
        if isinstance(nodes, Pairs):
            return decide(nodes, context, feasible, self.module.logit_clipping)
        return self.module.decode(nodes, context, feasible)
