"""The encoders of INViT: attention over the tokens of one view, of which the first few are read.

The tokens are linear in two or three features, so the first layer needs no projection of tokens:
its attention scores are a bilinear form of the features, and what a token gathers is a weighted sum
of features per head. Both forms are made of the weights once per batch (`Folded`).

In the last layer only the tokens that are read attend and go through the feed-forward.
"""

import math
from typing import cast

import attrs
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

# Kinds of tokens, in the order of a view's blocks of features.
KINDS = ("node", "last", "anchor")


@attrs.frozen(eq=False)
class Folded:
    """The first layer's attention as forms on ``f`` features; ``H`` heads."""

    embedding: Tensor  # [f, d]
    scores: Tensor  # [f, H * f]: times features, the coefficients of the other token's features
    mixed: Tensor  # [H * f, d]: what the features gathered add to a token


class Layer(nn.Module):
    """Self-attention and feed-forward with three normalisations, as in the official code.

    Scores are divided by the root of the whole width, not of a head's; the decoder's are by that.
    """

    def __init__(self, dim: int, heads: int, dim_ff: int, batchnorm: bool) -> None:
        super().__init__()
        norm = nn.BatchNorm1d if batchnorm else nn.LayerNorm
        self.heads = heads
        self.query = nn.Linear(dim, dim, bias=False)
        self.key_value = nn.Linear(dim, 2 * dim, bias=False)
        self.combine = nn.Linear(dim, dim, bias=False)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.norm1 = norm(dim)
        self.expand = nn.Linear(dim, dim_ff)
        self.contract = nn.Linear(dim_ff, dim)
        self.norm2 = norm(dim)

    def fold(self, embedding: Tensor, constant: Tensor) -> Folded:
        """Return the layer's attention on tokens that are ``features @ embedding``.

        Parameters
        ----------
        embedding
            ``[f, d]``; zero in the last feature, which is added to the scores of the token.
        constant
            ``[f]``: coefficients by which every token's features add up to 1.
        """
        f, dim = embedding.shape
        H, width = self.heads, dim // self.heads
        query = self.query(embedding).view(f, H, width).transpose(0, 1)  # [H, f, width]
        key, value = self.key_value(embedding).view(f, 2, H, width).permute(1, 2, 0, 3)
        scores = query @ key.transpose(1, 2) / math.sqrt(dim)  # [H, f, f]
        hide = torch.cat((constant.new_zeros((f, f - 1)), constant[:, None]), dim=1)
        combine = self.combine.weight.view(dim, H, width).permute(1, 2, 0)  # [H, width, d]
        return Folded(
            embedding=embedding,
            scores=(scores + hide).transpose(0, 1).reshape(f, H * f),
            mixed=(value @ combine).view(H * f, dim),
        )

    def first(self, features: Tensor, folded: Folded, read: int) -> Tensor:
        """Map features ``[N, T, f]`` to outputs ``[N, read, d]`` of the first ``read`` tokens."""
        N, _, f = features.shape
        asking = features[:, :read]
        coefficients = (asking @ folded.scores).view(N, read * self.heads, f)
        # [N, T, read * H]: over the first of two long dimensions softmax is fast at any T.
        attention = (features @ coefficients.transpose(1, 2)).softmax(dim=1)
        # The small product is transposed and not the attention, whose gradient would be copied.
        gathered = (features.transpose(1, 2) @ attention).transpose(1, 2)  # [N, read * H, f]
        gathered = gathered.reshape(N * read, self.heads * f)
        tokens = asking.flatten(0, 1) @ folded.embedding
        return self.finish(tokens, gathered @ folded.mixed).view(N, read, -1)

    def forward(self, tokens: Tensor, filling: Tensor | None, read: int) -> Tensor:
        """Map tokens ``[N, T, d]`` to the outputs ``[N, read, d]`` of the first ``read`` tokens.

        ``filling`` ``[N, 1, 1, T]`` is added to the scores of each token.
        """
        N, T, dim = tokens.shape
        asking = tokens[:, :read].flatten(0, 1)
        query = self.query(asking).view(N, read, self.heads, -1).transpose(1, 2)
        packed = self.key_value(tokens).view(N, T, 2, self.heads, -1)
        key, value = packed.permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(
            query, key, value, attn_mask=filling, scale=1 / math.sqrt(dim)
        )
        mixed = self.combine(attended.transpose(1, 2).reshape(N * read, dim))
        return self.finish(asking, mixed).view(N, read, dim)

    def finish(self, tokens: Tensor, mixed: Tensor) -> Tensor:
        """Join tokens ``[rows, d]`` and what they attended to, and apply the feed-forward.

        Not ``[N, T, d]``: a linear map then returns a view, and writing into one would cost the
        backward pass a copy of its gradient.
        """
        joined: Tensor = self.norm(mixed.add_(tokens))
        joined = self.norm1(joined.add_(tokens))  # the residual joins twice
        changed = self.contract(F.relu(self.expand(joined), inplace=True))
        return cast(Tensor, self.norm2(changed.add_(joined)))


class Encoder(nn.Module):
    """The encoder of one view.

    Parameters
    ----------
    widths
        Kind of token to how many features it has; a view may have no anchor.
    batchnorm
        Normalises channels over all tokens of the batch, filling included, instead of tokens.
    """

    def __init__(
        self, widths: dict[str, int], *, dim: int, heads: int, dim_ff: int, layers: int,
        batchnorm: bool,
    ) -> None:  # fmt: skip
        super().__init__()
        self.batchnorm = batchnorm
        self.embeddings = nn.ModuleDict({kind: nn.Linear(k, dim) for kind, k in widths.items()})
        self.layers = nn.ModuleList(Layer(dim, heads, dim_ff, batchnorm) for _ in range(layers))

    def fold(self) -> Folded:
        """Return the embeddings and the first layer's attention as forms on a view's features."""
        node = cast(nn.Linear, self.embeddings["node"])
        width, dim = node.in_features, node.out_features
        blocks, constant = [], []
        for kind in KINDS:
            if kind in self.embeddings:
                linear = cast(nn.Linear, self.embeddings[kind])
                unused = node.weight.new_zeros((width - linear.in_features, dim))
                blocks += [linear.weight.T, unused, linear.bias[None]]
            else:
                blocks.append(node.weight.new_zeros((width + 1, dim)))
            constant += [0.0] * width + [1.0]
        blocks.append(node.weight.new_zeros((1, dim)))  # of the feature that hides
        embedding = torch.cat(blocks)
        return cast(Layer, self.layers[0]).fold(embedding, embedding.new_tensor([*constant, 0.0]))

    def forward(self, features: Tensor, folded: Folded, read: int) -> Tensor:
        """Map a view's features ``[N, T, f]`` to ``[N, read, d]``."""
        T, last = features.shape[1], len(self.layers) - 1
        filling: Tensor | None = features[:, None, None, :, -1]
        if features.device.type == "cpu" and not bool(features[..., -1].any()):
            filling = None  # as in the TSP, unless states of several steps meet
        tokens = features
        for i, module in enumerate(self.layers):
            layer = cast(Layer, module)
            asking = read if i == last and not self.batchnorm else T
            if i == 0:
                tokens = layer.first(features, folded, asking)
            else:
                tokens = layer(tokens, filling, asking)
        return tokens[:, :read]
