"""One decoding step of INViT: a single query attends to the candidates and points at one of them.

Each row has one query, so it is cheaper to transform the query than the candidates:
``(W_k c) . q = c . (W_k^T q)``, and the weighted sum of ``W_v c`` is ``W_v`` times the weighted sum
of ``c``. Each head uses a part of the weights' rows.
"""

import math
from typing import cast

import attrs
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from lifelong_co_adapters.invit.layer import transposed

# The pointer's scores are in (-10, 10).
CLIPPING = 10.0


@attrs.frozen(eq=False)
class LayerWeights:
    """A layer's weights in the form that the decoder multiplies by; ``W`` is a head's width."""

    query: Tensor  # [d, d], divided by sqrt(W), like the bias
    query_bias: Tensor  # [d]
    key: Tensor  # [H, W, D]
    value: Tensor  # [H, D, W]
    combine: Tensor  # [d, d]
    combine_bias: Tensor  # [d], includes the effect of the values' bias
    expand: Tensor  # [d, d]
    contract: Tensor  # [d, d]


@attrs.frozen(eq=False)
class Weights:
    """The decoder's weights in the form that it multiplies by, made once per batch."""

    query: Tensor  # [queries, d]
    layers: list[LayerWeights]
    pointer: Tensor  # [d, D + 1]: the hidden query times this gives the factors of candidates and 1
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
        """Return the layer's weights.

        The bias of the keys adds the same to every score, so it has no effect. Attention weights
        sum to 1, so the bias of the values is added once.

        Parameters
        ----------
        key, value
            The weights of keys and values, ``[H, W, D]``.
        bias
            The bias of the values, ``[d]``.
        """
        root = math.sqrt(key.shape[1])
        return LayerWeights(
            query=transposed(self.query.weight / root),
            query_bias=self.query.bias / root,
            key=key,
            value=value.transpose(1, 2),
            combine=transposed(self.combine.weight),
            combine_bias=self.combine(bias),
            expand=transposed(self.expand.weight),
            contract=transposed(self.contract.weight),
        )


class Decoder(nn.Module):
    """Attends to candidates of width ``D`` and returns the pointer's logits.

    Parameters
    ----------
    queries, candidates
        The width of the input of the query, and ``D``.
    dim, heads, layers
        Width, heads and layers of the attention; the last layer is the pointer.
    """

    def __init__(self, *, queries: int, candidates: int, dim: int, heads: int, layers: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(queries, dim)
        self.key = nn.Linear(candidates, layers * dim)
        self.value = nn.Linear(candidates, layers * dim)  # the part of the last layer is not used
        self.layers = nn.ModuleList(DecoderLayer(dim) for _ in range(layers - 1))
        self.pointer = nn.Linear(dim, dim)

    def weights(self) -> Weights:
        """Return the weights in the form that is fastest to multiply by."""
        d, H = self.pointer.in_features, self.heads
        keys, key_biases = (
            self.key.weight.view(-1, d, self.key.in_features),
            self.key.bias.view(-1, d),
        )
        values = self.value.weight.view(-1, H, d // H, self.key.in_features)
        parts = zip(self.layers, keys, values, self.value.bias.view(-1, d), strict=False)
        last = torch.cat((keys[-1], key_biases[-1][:, None]), dim=1) / math.sqrt(d)  # [d, D + 1]
        return Weights(
            query=transposed(self.query.weight),
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
            ``[N, C]``: 0 for candidates; far below 0 elsewhere.
        weights
            The result of `weights`.
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
        if scores.dtype == torch.bfloat16:  # its 8 bits would leave steps of 0.06 in the logits
            scores = scores.float()
        return CLIPPING * torch.tanh(scores)
