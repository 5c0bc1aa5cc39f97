"""One decoding step of INViT: a single query attends to the candidates and points at one.

With one query a row it is cheaper to bring the query to the candidates than the candidates to the
query: ``(W_k c) . q = c . (W_k^T q)``, and the weighted sum of ``W_v c`` is ``W_v`` times the
weighted sum of ``c``. Each head does so with its own rows of the weights.
"""

import math
from typing import cast

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

# The pointer's scores are in (-10, 10).
CLIPPING = 10.0


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

    def forward(self, query: Tensor, candidates: Tensor, forbid: Tensor) -> Tensor:
        """Return logits ``[N, C]``.

        Parameters
        ----------
        query
            ``[N, queries]``.
        candidates
            ``[N, C, D]``.
        forbid
            ``[N, C]``: 0, or far below 0 for what is no candidate.
        """
        N, _, D = candidates.shape
        H = self.heads
        transposed = candidates.transpose(1, 2)
        hidden = self.query(query)  # [N, d]
        dim = hidden.shape[1]
        keys = self.key.weight.view(-1, dim, D)
        values = self.value.weight.view(-1, H, dim // H, D)
        for module, key, value, bias in zip(
            self.layers, keys, values, self.value.bias.view(-1, dim), strict=False
        ):
            layer = cast(DecoderLayer, module)
            # A key's bias adds the same to every score: no effect. The weights sum to 1, so that a
            # value's bias is added once.
            own = (layer.query(hidden) / math.sqrt(dim // H)).view(N, H, -1).transpose(0, 1)
            own = (own @ key.view(H, -1, D)).transpose(0, 1)  # [N, H, D]
            weights = torch.baddbmm(forbid[:, None], own, transposed).softmax(dim=2)
            gathered = (weights @ candidates).transpose(0, 1)  # [H, N, D]
            attended = (gathered @ value.transpose(1, 2)).transpose(0, 1).reshape(N, dim) + bias
            hidden = layer.norm1(layer.combine(attended).add_(hidden))
            changed = layer.contract(F.relu(layer.expand(hidden), inplace=True))
            hidden = layer.norm2(changed.add_(hidden))
        pointer = self.pointer(hidden) / math.sqrt(dim)  # [N, d]
        same = pointer @ self.key.bias[-dim:]
        scores = (candidates @ (pointer @ keys[-1])[..., None]).squeeze(2) + same[:, None]
        return CLIPPING * torch.tanh(scores)
