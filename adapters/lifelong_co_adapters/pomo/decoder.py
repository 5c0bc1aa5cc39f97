"""One decoding step of POMO, with little work in each step.

Several products of the official decoder depend only on the instance. They are computed once per
batch, not once per step and trajectory:

- the query of every node, ``W_q h_j``, which a step then looks up;
- the pointer key ``W_c^T h_j``: the pointer's score of node ``j`` is
  ``h_j . (W_c o + b_c) = (W_c^T h_j) . o + h_j . b_c`` for the attention's output ``o``;
- for few actions on a CPU: the attention score of every pair of nodes, and the pointer's score of
  every value. There the calls of many small products cost more than their arithmetic.

``H`` is the number of heads, ``d`` their width. The results are those of the official network,
except for rounding.
"""

import math
from typing import cast

import attrs
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from lifelong_co.protocols import Context
from lifelong_co.tensors.precision import in_full, not_half
from lifelong_co_adapters.bfloat16_linear import in_bfloat16
from lifelong_co_adapters.onednn_linear import affine
from lifelong_co_adapters.pomo.attention import attention
from lifelong_co_adapters.pomo.bfloat16_attention import Operands, operands
from lifelong_co_adapters.pomo.bfloat16_products import product
from lifelong_co_adapters.pomo.masks import minus_infinity

# Up to this number of actions, products of tables are faster in single precision.
FEW = 32


@attrs.frozen(eq=False)
class Nodes:
    """The encoded nodes of a batch in the form that decoding needs."""

    queries: dict[str, Tensor]  # role -> [B, A, H * d]
    scalars: Tensor | None  # [k, H * d]: the weight of the context's scalars in the query
    keys: Tensor  # [B, H, A, d]
    values: Tensor  # [B, H, A, d]
    pointer_keys: Tensor  # [B, H * d, A], divided by sqrt(embedding_dim)
    pointer_bias: Tensor  # [B, 1, A], divided by sqrt(embedding_dim)
    rounded: Operands | None  # keys and values in bfloat16, on a CPU that learns in it
    rounded_pointer_keys: Tensor | None  # in bfloat16, there
    memory: Tensor
    """For temporary results of all steps; see `attention.attention`."""


@attrs.frozen(eq=False)
class Tables:
    """`Nodes` with all products that do not depend on the state."""

    scores: dict[str, Tensor]  # role -> [B, A, H * A]: of the node in this role with every node
    scalars: Tensor | None  # [B, k, H * A]
    pointers: Tensor  # [B, H * A, A]: the pointer scores of every node's value
    rounded_pointers: Tensor | None  # in bfloat16, where their products are in it
    pointer_bias: Tensor  # [B, 1, A]


def prepare(
    nodes: Tensor,
    *,
    queries: dict[str, Tensor],
    key: Tensor,
    value: Tensor,
    combine: nn.Linear,
    head_num: int,
) -> Nodes:
    """Return the encoded nodes ``[B, A, E]`` in the form that a step needs.

    Parameters
    ----------
    nodes
        ``[B, A, E]``.
    queries
        The query weight of each role, ``[H * d, E]``. The one of the role ``last`` has more
        columns: one for each scalar of the context.
    key, value, combine, head_num
        The other weights of the decoder, and ``H``.
    """
    B, A, E = nodes.shape
    heads = (B, A, head_num, -1)
    scale = 1 / math.sqrt(E)
    last = queries["last"]

    def mapped(weight: Tensor) -> Tensor:
        found = affine(nodes, weight)
        # On a CPU in single precision, because the gradients of all steps are summed in its type.
        return not_half(found) if found.device.type == "cpu" else found

    # This order fixes the one in which gradients of the nodes are summed, and so their rounding.
    mapped_queries = {role: mapped(weight[:, :E]) for role, weight in queries.items()}
    keys = mapped(key).view(heads).transpose(1, 2).contiguous()
    values = mapped(value).view(heads).transpose(1, 2).contiguous()
    pointer_keys = mapped((combine.weight * scale).T).transpose(1, 2)
    with in_full(nodes.device):
        pointer_bias = nodes @ (combine.bias * scale)
    narrow = in_bfloat16(nodes)
    return Nodes(
        queries=mapped_queries,
        scalars=last[:, E:].T if last.shape[1] > E else None,
        keys=keys,
        values=values,
        pointer_keys=pointer_keys,
        pointer_bias=pointer_bias[:, None, :],
        rounded=operands(keys, values) if narrow else None,
        rounded_pointer_keys=pointer_keys.detach().bfloat16() if narrow else None,
        memory=nodes.new_empty(0),
    )


def attend(nodes: Nodes, context: Context, feasible: Tensor) -> Tensor:
    """Return the pointer's scores ``[B, S, A]`` by attention over the feasible actions."""
    B, S, _ = feasible.shape
    query = pick_rows(nodes.queries, context)  # [B, S, H * d]
    if nodes.scalars is not None:
        with in_full(query.device):
            query += cast(Tensor, context.scalars) @ nodes.scalars
    heads = query.view(B, S, nodes.keys.shape[1], -1)
    attended = attention(
        heads, nodes.keys, nodes.values, feasible, nodes.memory, nodes.rounded
    ).flatten(2)
    return point(
        nodes.pointer_bias, attended, nodes.pointer_keys, nodes.rounded_pointer_keys, exact=True
    )


def tabulate(nodes: Nodes) -> Tables:
    """Compute all products that do not depend on the state."""
    B, H, A, d = nodes.keys.shape
    keys = nodes.keys.transpose(2, 3) / math.sqrt(d)  # [B, H, d, A]
    scalars = None
    if nodes.scalars is not None:
        per_head = nodes.scalars.view(-1, H, d).transpose(0, 1)  # [H, k, d]
        scalars = (per_head @ keys).transpose(1, 2).reshape(B, -1, H * A)
    pointers = (nodes.values @ nodes.pointer_keys.view(B, H, d, A)).view(B, H * A, A)
    narrow = nodes.rounded is not None and A > FEW
    return Tables(
        scores={
            role: (query.view(B, A, H, d).transpose(1, 2) @ keys)
            .transpose(1, 2)
            .reshape(B, A, H * A)
            for role, query in nodes.queries.items()
        },
        scalars=scalars,
        pointers=pointers,
        rounded_pointers=pointers.detach().bfloat16() if narrow else None,
        pointer_bias=nodes.pointer_bias,
    )


def look_up(tables: Tables, context: Context, feasible: Tensor) -> Tensor:
    """Return the same scores as `attend`, from tables."""
    B, S, A = feasible.shape
    scores = pick_rows(tables.scores, context)  # [B, S, H * A]
    if tables.scalars is not None:
        scores = torch.baddbmm(scores, cast(Tensor, context.scalars), tables.scalars)
    forbid = minus_infinity(~feasible, scores.dtype)
    masked = scores.view(B, S, -1, A) + forbid[:, :, None]
    attention = masked.softmax(dim=3).view(B, S, -1)
    return point(
        tables.pointer_bias, attention, tables.pointers, tables.rounded_pointers, exact=False
    )


def point(
    bias: Tensor, attended: Tensor, keys: Tensor, rounded: Tensor | None, *, exact: bool
) -> Tensor:
    """Return ``bias + attended @ keys``, at least in single precision, even under autocast.

    Parameters
    ----------
    bias, attended, keys
        ``[B, 1, A]``, ``[B, S, K]`` and ``[B, K, A]``.
    rounded
        The keys in bfloat16, if gradients have products in bfloat16.
    exact
        Whether the product itself is in single precision then. Otherwise the logits, which are
        clipped and multiplied by 10, are off by about 0.01.
    """
    with in_full(keys.device):
        if rounded is not None:
            return product(bias, attended, keys, rounded, exact=exact)
        return torch.baddbmm(not_half(bias), not_half(attended), not_half(keys))


def pick_rows(tables: dict[str, Tensor], context: Context) -> Tensor:
    """Return the sum over roles of each role's table rows, ``[B, S, width]``.

    An embedding of the flattened table copies whole rows; `gather` would copy single elements.
    """
    picked: Tensor | None = None
    for role, table in tables.items():
        B, A, width = table.shape
        first = torch.arange(0, B * A, A, device=table.device)[:, None]
        rows = F.embedding(context.nodes[role] + first, table.reshape(B * A, width))
        picked = rows if picked is None else picked + rows
    return cast(Tensor, picked)
