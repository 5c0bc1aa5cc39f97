"""The attention network of POMO and Omni; `decoder` has the part that runs at every step."""

from collections.abc import Mapping
from typing import cast

import attrs
import torch
from torch import Tensor, nn

from lifelong_co.errors import ConfigError
from lifelong_co.protocols import Context, Problem
from lifelong_co.tensors.precision import in_full, not_half
from lifelong_co_adapters.onednn_linear import linear
from lifelong_co_adapters.pomo.attention import attention
from lifelong_co_adapters.pomo.decoder import (
    Nodes,
    Tables,
    attend,
    look_up,
    prepare,
    tabulate,
)
from lifelong_co_adapters.pomo.masks import minus_infinity
from lifelong_co_adapters.pomo.normalization import NORMALIZATIONS, join
from lifelong_co_adapters.pomo.pointer import log_probs

# Up to this number of actions, a CPU looks up attention scores instead of computing them.
TABLE_ACTIONS = 64


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward, each with a residual and a normalisation."""

    def __init__(
        self, embedding_dim: int, head_num: int, qkv_dim: int, ff_hidden_dim: int, norm: str
    ) -> None:
        super().__init__()
        self.head_num = head_num
        self.query_key_value = nn.Linear(embedding_dim, 3 * head_num * qkv_dim, bias=False)
        self.combine = nn.Linear(head_num * qkv_dim, embedding_dim)
        self.norm1 = NORMALIZATIONS[norm](embedding_dim)
        self.expand = nn.Linear(embedding_dim, ff_hidden_dim)
        self.contract = nn.Linear(ff_hidden_dim, embedding_dim)
        self.norm2 = NORMALIZATIONS[norm](embedding_dim)

    def forward(self, nodes: Tensor) -> Tensor:
        """Map ``[B, A, embedding_dim]`` to the same shape."""
        B, A, _ = nodes.shape
        packed = linear(nodes, self.query_key_value).view(B, A, 3, self.head_num, -1)
        query, key, value = packed.unbind(dim=2)
        attended = attention(query, key.transpose(1, 2), value.transpose(1, 2))
        mixed = linear(attended.flatten(2), self.combine)
        nodes = join(self.norm1, nodes, mixed)
        hidden = linear(nodes, self.expand, relu=True)
        return join(self.norm2, nodes, linear(hidden, self.contract))


class Network(nn.Module):
    """Encoder and decoder for any problem that describes its features and context.

    Parameters
    ----------
    problem
        The problem; it gives the widths of the embeddings and of the decoder's query.
    embedding_dim, head_num, qkv_dim, encoder_layer_num, ff_hidden_dim, logit_clipping
        Names of the official code; see `solver.pomo`.
    norm
        One of `normalization.NORMALIZATIONS`; POMO's is ``instance``.

    Raises
    ------
    ConfigError
        If the problem has no features, as the asymmetric TSP, or its context no node ``last``.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        embedding_dim: int,
        head_num: int,
        qkv_dim: int,
        encoder_layer_num: int,
        ff_hidden_dim: int,
        logit_clipping: float,
        norm: str = "instance",
    ) -> None:
        super().__init__()
        if not problem.feature_dims:
            raise ConfigError(
                f"solver: expected a problem with features of its nodes, got {problem.name!r},"
                " which has none for an attention network"
            )
        if "last" not in problem.context_nodes:
            roles = ", ".join(problem.context_nodes) or "none"
            raise ConfigError(
                f"solver: problem {problem.name!r}: expected the role last in its context, got"
                f" {roles}"
            )
        width = head_num * qkv_dim
        self.head_num = head_num
        self.logit_clipping = logit_clipping
        self.embeddings = nn.ModuleDict(
            {kind: nn.Linear(dim, embedding_dim) for kind, dim in problem.feature_dims.items()}
        )
        self.layers = nn.ModuleList(
            EncoderLayer(embedding_dim, head_num, qkv_dim, ff_hidden_dim, norm)
            for _ in range(encoder_layer_num)
        )
        # The scalars of the context are read with the last node, as in the official network.
        self.queries = nn.ModuleDict(
            {
                role: nn.Linear(
                    embedding_dim + (problem.context_scalars if role == "last" else 0),
                    width,
                    bias=False,
                )
                for role in problem.context_nodes
            }
        )
        self.key = nn.Linear(embedding_dim, width, bias=False)
        self.value = nn.Linear(embedding_dim, width, bias=False)
        self.combine = nn.Linear(width, embedding_dim)

    def encode(
        self, features: dict[str, Tensor], queries: Mapping[str, Tensor] | None = None
    ) -> Nodes | Tables:
        """Encode the features of the actions, ``[B, *, dim]`` for each kind.

        ``queries`` replace those of the nodes in some roles, ``[B, A, H * d]``.
        """
        prepared = self.prepared(features)
        if queries:
            prepared = attrs.evolve(prepared, queries={**prepared.queries, **queries})
        return self.tabulated(prepared)

    def tabulated(self, prepared: Nodes) -> Nodes | Tables:
        """Return tables if the actions are few and on a CPU, else the same nodes."""
        keys = prepared.keys
        if keys.shape[2] > TABLE_ACTIONS or keys.device.type != "cpu":
            return prepared
        with in_full(keys.device):
            return tabulate(prepared)

    def encoded_queries(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return the queries of all nodes in each role except ``last``, ``[B, A, H * d]``."""
        if self.queries.keys() == {"last"}:
            return {}
        queries = self.prepared(features).queries
        return {role: table for role, table in queries.items() if role != "last"}

    def prepared(self, features: dict[str, Tensor]) -> Nodes:
        """Return the encoded nodes in the form that decoding needs."""
        # In single precision, so that residual sums and the inputs of norms are, too.
        with in_full(next(iter(features.values())).device):
            nodes = torch.cat([self.embeddings[kind](x) for kind, x in features.items()], dim=1)
        for layer in self.layers:
            nodes = layer(nodes)
        return prepare(
            nodes,
            queries={role: cast(Tensor, layer.weight) for role, layer in self.queries.items()},
            key=self.key.weight,
            value=self.value.weight,
            combine=self.combine,
            head_num=self.head_num,
        )

    def decode(self, encoding: Nodes | Tables, context: Context, feasible: Tensor) -> Tensor:
        """Return log-probabilities ``[B, S, A]``, -inf where ``feasible`` bool is False."""
        if isinstance(encoding, Tables):
            with in_full(feasible.device):
                scores = look_up(encoding, context, feasible)
        else:
            scores = attend(encoding, context, feasible)
        scores = not_half(scores)
        forbid = minus_infinity(~feasible, scores.dtype)
        return log_probs(scores, forbid, self.logit_clipping, context.nowhere)
