"""The attention network of POMO, arranged so that a decoding step costs little.

Two products of the official network depend on the instance only, so they are made once per batch
instead of once per step and trajectory: the query of every node, ``W_q h_j``, which a step then
looks up, and the pointer key ``W_c^T h_j``, since the pointer's score of node ``j`` is
``h_j . (W_c o + b_c) = (W_c^T h_j) . o + h_j . b_c`` for the attention's output ``o``.
"""

import math

import attrs
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from lifelong_co.protocols import Context, Problem


@attrs.frozen(eq=False)
class Nodes:
    """What decoding needs of a batch; ``H`` heads of width ``d``."""

    keys: Tensor  # [B, H, A, d]
    values: Tensor  # [B, H, A, d]
    queries: dict[str, Tensor]  # role -> [B, A, H * d]
    pointer_keys: Tensor  # [B, H * d, A], divided by sqrt(embedding_dim)
    pointer_bias: Tensor  # [B, 1, A], likewise


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward, each with a residual and instance normalisation."""

    def __init__(self, embedding_dim: int, head_num: int, qkv_dim: int, ff_hidden_dim: int) -> None:
        super().__init__()
        self.head_num = head_num
        self.query_key_value = nn.Linear(embedding_dim, 3 * head_num * qkv_dim, bias=False)
        self.combine = nn.Linear(head_num * qkv_dim, embedding_dim)
        self.norm1 = nn.InstanceNorm1d(embedding_dim, affine=True)
        self.expand = nn.Linear(embedding_dim, ff_hidden_dim)
        self.contract = nn.Linear(ff_hidden_dim, embedding_dim)
        self.norm2 = nn.InstanceNorm1d(embedding_dim, affine=True)

    def forward(self, nodes: Tensor) -> Tensor:
        """Map ``[B, A, embedding_dim]`` to the same shape."""
        B, A, _ = nodes.shape
        packed = self.query_key_value(nodes).view(B, A, 3, self.head_num, -1)
        query, key, value = packed.permute(2, 0, 3, 1, 4)  # each [B, H, A, d]
        attended = F.scaled_dot_product_attention(query, key, value)
        mixed = self.combine(attended.transpose(1, 2).reshape(B, A, -1))
        nodes = normalize(self.norm1, nodes + mixed)
        return normalize(self.norm2, nodes + self.contract(F.relu(self.expand(nodes))))


def normalize(norm: nn.InstanceNorm1d, nodes: Tensor) -> Tensor:
    """Normalise each channel of ``[B, A, embedding_dim]`` over an instance's actions."""
    return norm(nodes.transpose(1, 2)).transpose(1, 2)  # type: ignore[no-any-return]


class Network(nn.Module):
    """Encoder and decoder for any problem that describes its features and context.

    Parameters
    ----------
    problem
        Gives the widths of the embeddings and of the decoder's query.
    embedding_dim, head_num, qkv_dim, encoder_layer_num, ff_hidden_dim, logit_clipping
        The official code's names.
    """

    def __init__(
        self,
        problem: Problem,
        embedding_dim: int = 128,
        head_num: int = 8,
        qkv_dim: int = 16,
        encoder_layer_num: int = 6,
        ff_hidden_dim: int = 512,
        logit_clipping: float = 10.0,
    ) -> None:
        super().__init__()
        width = head_num * qkv_dim
        self.head_num = head_num
        self.logit_clipping = logit_clipping
        self.embeddings = nn.ModuleDict(
            {kind: nn.Linear(dim, embedding_dim) for kind, dim in problem.feature_dims.items()}
        )
        self.layers = nn.ModuleList(
            EncoderLayer(embedding_dim, head_num, qkv_dim, ff_hidden_dim)
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

    def encode(self, features: dict[str, Tensor]) -> Nodes:
        """Encode the features of every action, ``[B, *, dim]`` per kind."""
        nodes = torch.cat([self.embeddings[kind](x) for kind, x in features.items()], dim=1)
        for layer in self.layers:
            nodes = layer(nodes)
        B, A, E = nodes.shape
        heads = (B, A, self.head_num, -1)
        scale = 1 / math.sqrt(E)
        return Nodes(
            keys=self.key(nodes).view(heads).transpose(1, 2),
            values=self.value(nodes).view(heads).transpose(1, 2),
            queries={
                role: F.linear(nodes, layer.weight[:, :E]) for role, layer in self.queries.items()
            },
            pointer_keys=(nodes @ (self.combine.weight * scale)).transpose(1, 2),
            pointer_bias=(nodes @ (self.combine.bias * scale))[:, None, :],
        )

    def decode(self, nodes: Nodes, context: Context, feasible: Tensor) -> Tensor:
        """Return log-probabilities ``[B, S, A]``, -inf where ``feasible`` bool is False."""
        B, S, _ = feasible.shape
        query = None
        for role, table in nodes.queries.items():
            index = context.nodes[role][..., None].expand(-1, -1, table.shape[2])
            part = table.gather(1, index)  # [B, S, H * d]
            query = part if query is None else query + part
        assert query is not None
        if context.scalars is not None:
            k = context.scalars.shape[2]
            query = query + F.linear(context.scalars, self.queries["last"].weight[:, -k:])
        query = query.view(B, S, self.head_num, -1).transpose(1, 2)  # [B, H, S, d]
        attended = F.scaled_dot_product_attention(
            query, nodes.keys, nodes.values, attn_mask=feasible[:, None]
        )
        attended = attended.transpose(1, 2).reshape(B, S, -1)
        scores = torch.baddbmm(nodes.pointer_bias, attended, nodes.pointer_keys)
        logits = self.logit_clipping * torch.tanh(scores)
        if context.nowhere is not None:  # equal logits: uniform over the feasible actions
            logits = logits.masked_fill(context.nowhere[..., None], 0.0)
        return logits.masked_fill(~feasible, -torch.inf).log_softmax(dim=2)
