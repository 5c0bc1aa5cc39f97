"""One decoding step of INViT: a single query attends to the candidates and points at one.

With one query a row it is cheaper to bring the query to the candidates than the candidates to the
query: ``(W_k c) . q = c . (W_k^T q)``, and the weighted sum of ``W_v c`` is ``W_v`` times the
weighted sum of ``c``. Each head does so with its own rows of the weights.
"""

import math
from typing import cast

import attrs
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from lifelong_co_adapters.invit.layer import turned

# The pointer's scores are in (-10, 10).
CLIPPING = 10.0


@attrs.frozen(eq=False)
class LayerWeights:
    """A layer's weights as the decoder multiplies by them; ``W`` is a head's width."""

    query: Tensor  # [d, d], divided by the root of W, as is its bias
    query_bias: Tensor  # [d]
    key: Tensor  # [H, W, D]
    value: Tensor  # [H, D, W]
    combine: Tensor  # [d, d]
    combine_bias: Tensor  # [d], what the values' bias adds to it included
    expand: Tensor  # [d, d]
    contract: Tensor  # [d, d]


@attrs.frozen(eq=False)
class Weights:
    """The decoder's weights as it multiplies by them, made once per batch."""

    query: Tensor  # [queries, d]
    layers: list[LayerWeights]
    pointer: Tensor  # [d, D + 1]: times the hidden query, what candidates and 1 are multiplied by
    pointer_bias: Tensor  # [D + 1]


class DecoderLayer(nn.Module):
    """Attention to the candidates and a feed-forward."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.query = nn.Linear(dim, dim)
        self.combine = nn.Linear(dim, dim)
        self.norm1 = nn.LayerNorm(dim)
        self.expand = nn.Linear(dim, dim)
        self.contract = nn.Linear(dim, dim)
        self.norm2 = nn.LayerNorm(dim)

    def weights(self, key: Tensor, value: Tensor, bias: Tensor) -> LayerWeights:
        """Return the weights, given those of the keys ``[H, W, D]`` and values and their bias.

        A key's bias adds the same to every score: no effect. The weights of attention sum to 1, so
        that a value's bias is added once.
        """
        root = math.sqrt(key.shape[1])
        return LayerWeights(
            query=turned(self.query.weight / root),
            query_bias=self.query.bias / root,
            key=key,
            value=value.transpose(1, 2),
            combine=turned(self.combine.weight),
            combine_bias=self.combine(bias),
            expand=turned(self.expand.weight),
            contract=turned(self.contract.weight),
        )


class Decoder(nn.Module):
    """Attends to candidates of width ``D`` and returns the pointer's logits.

    Parameters
    ----------
    queries, candidates
        Widths of what the query is made of, and ``D``.
    dim, heads, layers
        Width and heads of the attention; the last of the layers is the pointer.
    """

    def __init__(self, *, queries: int, candidates: int, dim: int, heads: int, layers: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(queries, dim)
        self.key = nn.Linear(candidates, layers * dim)
        self.value = nn.Linear(candidates, layers * dim)  # the last layer's has no effect
        self.layers = nn.ModuleList(DecoderLayer(dim) for _ in range(layers - 1))
        self.pointer = nn.Linear(dim, dim)

    def weights(self) -> Weights:
        """Return the weights as the products want them."""
        d, H = self.pointer.in_features, self.heads
        keys, key_biases = (
            self.key.weight.view(-1, d, self.key.in_features),
            self.key.bias.view(-1, d),
        )
        values = self.value.weight.view(-1, H, d // H, self.key.in_features)
        parts = zip(self.layers, keys, values, self.value.bias.view(-1, d), strict=False)
        last = torch.cat((keys[-1], key_biases[-1][:, None]), dim=1) / math.sqrt(d)  # [d, D + 1]
        return Weights(
            query=turned(self.query.weight),
            layers=[
                cast(DecoderLayer, layer).weights(key.view(H, d // H, -1), value, bias)
                for layer, key, value, bias in parts
            ],
            pointer=self.pointer.weight.T @ last,
            pointer_bias=self.pointer.bias @ last,
        )

    def forward(
        self, query: Tensor, candidates: Tensor, forbid: Tensor, weights: Weights
    ) -> Tensor:
        """Return logits ``[N, C]``.

        Parameters
        ----------
        query
            ``[N, queries]``.
        candidates
            ``[N, C, D]``.
        forbid
            ``[N, C]``: 0, or far below 0 for what is no candidate.
        weights
            Of `weights`.
        """
        N, H = len(query), self.heads
        transposed = candidates.transpose(1, 2)
        hidden = torch.addmm(self.query.bias, query, weights.query)  # [N, d]
        for module, own in zip(self.layers, weights.layers, strict=True):
            layer = cast(DecoderLayer, module)
            asking = torch.addmm(own.query_bias, hidden, own.query).view(N, H, -1)
            asking = (asking.transpose(0, 1) @ own.key).transpose(0, 1)  # [N, H, D]
            attention = torch.baddbmm(forbid[:, None], asking, transposed).softmax(dim=2)
            gathered = (attention @ candidates).transpose(0, 1)  # [H, N, D]
            attended = (gathered @ own.value).transpose(0, 1).reshape(N, -1)
            attended = torch.addmm(own.combine_bias, attended, own.combine)
            hidden = layer.norm1(attended.add_(hidden))
            wide = F.relu(torch.addmm(layer.expand.bias, hidden, own.expand), inplace=True)
            changed = torch.addmm(layer.contract.bias, wide, own.contract)
            hidden = layer.norm2(changed.add_(hidden))
        pointer = torch.addmm(weights.pointer_bias, hidden, weights.pointer)  # [N, D + 1]
        scores = (candidates @ pointer[:, :-1, None]).squeeze(2) + pointer[:, -1:]
        if scores.dtype == torch.bfloat16:  # of its 8 bits steps of 0.06 would be left
            scores = scores.float()
        return CLIPPING * torch.tanh(scores)
