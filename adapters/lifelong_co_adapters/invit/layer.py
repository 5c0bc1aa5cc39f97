"""A layer of INViT's encoders: attention over the tokens of one view, and a feed-forward.

Tokens are linear in two or three features, so the first layer does not project them. Its attention
scores are a bilinear form of the features, and the attention output of a token is a weighted sum of
features for each head. Both forms are computed from the weights once per batch (`Folded`). The
weights of all layers are also brought once into the form that is fastest to multiply by
(`Weights`).
"""

import math
from typing import cast

import attrs
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from lifelong_co_adapters.onednn_linear import affine


@attrs.frozen(eq=False)
class Weights:
    """A layer's weights in the form that `Layer` multiplies by, made once per batch."""

    query: Tensor  # [d, d], divided by sqrt(d)
    key_value: Tensor  # [d, 2d]
    combine: Tensor  # [d, d]
    expand: Tensor  # [d, ff]
    contract: Tensor  # [ff, d]
    learning: bool  # whether there are gradients


@attrs.frozen(eq=False)
class Folded:
    """The first layer's attention in terms of ``f`` features, and the weights of all layers."""

    embedding: Tensor  # [f, d]
    scores: Tensor  # [f, H * f]: features times this are factors of the other token's features
    mixed: Tensor  # [H * f, d]: maps the attended features of all heads to a token
    weights: list[Weights]


class Layer(nn.Module):
    """Self-attention and feed-forward with three normalisations, as in the official code.

    Scores are divided by the root of the whole width. The decoder divides by the root of a head's
    width.
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

    def weights(self) -> Weights:
        """Return the weights in the form that is fastest to multiply by."""
        return Weights(
            query=transposed(self.query.weight / math.sqrt(self.query.in_features)),
            key_value=transposed(self.key_value.weight),
            combine=transposed(self.combine.weight),
            expand=transposed(self.expand.weight),
            contract=transposed(self.contract.weight),
            learning=torch.is_grad_enabled(),
        )

    def fold(self, embedding: Tensor, constant: Tensor) -> tuple[Tensor, Tensor]:
        """Return `Folded.scores` and `Folded.mixed` of tokens that are ``features @ embedding``.

        Parameters
        ----------
        embedding
            ``[f, d]``; the row of the last feature is 0. That feature is added to the scores of its
            token.
        constant
            ``[f]``: factors that make the sum of every token's features 1.
        """
        f, dim = embedding.shape
        H, width = self.heads, dim // self.heads
        query = self.query(embedding).view(f, H, width).transpose(0, 1)  # [H, f, width]
        key, value = self.key_value(embedding).view(f, 2, H, width).permute(1, 2, 0, 3)
        scores = query @ key.transpose(1, 2) / math.sqrt(dim)  # [H, f, f]
        hide = torch.cat((constant.new_zeros((f, f - 1)), constant[:, None]), dim=1)
        combine = self.combine.weight.view(dim, H, width).permute(1, 2, 0)  # [H, width, d]
        return (scores + hide).transpose(0, 1).reshape(f, H * f), (value @ combine).view(H * f, dim)

    def first(
        self, features: Tensor, folded: Folded, read: int, shown: Tensor | None = None
    ) -> Tensor:
        """Map features ``[N, T, f]`` to outputs ``[N, read, d]`` of the first ``read`` tokens.

        ``shown`` is as for `finish`.
        """
        N, _, f = features.shape
        asking = features[:, :read]
        coefficients = (asking @ folded.scores).view(N, read * self.heads, f)
        # [N, T, read * H]: softmax over the first of two long dimensions is fast for any T.
        attention = (features @ coefficients.transpose(1, 2)).softmax(dim=1)
        # The small product is transposed, not the attention: that would copy its gradient.
        gathered = (features.transpose(1, 2) @ attention).transpose(1, 2)  # [N, read * H, f]
        gathered = gathered.reshape(N * read, self.heads * f)
        tokens = asking.flatten(0, 1) @ folded.embedding
        joined = affine(gathered, folded.mixed.T).add_(tokens)
        return self.finish(tokens, joined, folded.weights[0], shown).view(N, read, -1)

    def forward(
        self,
        tokens: Tensor,
        filling: Tensor | None,
        read: int,
        weights: Weights,
        shown: Tensor | None = None,
    ) -> Tensor:
        """Map tokens ``[N, T, d]`` to the outputs ``[N, read, d]`` of the first ``read`` tokens.

        ``filling`` ``[N, T]`` is added to the scores of each token; ``shown`` is as for `finish`.
        """
        N, T, dim = tokens.shape
        asking = tokens[:, :read].flatten(0, 1)
        query = affine(asking, weights.query.T).view(N, read, self.heads, -1)
        packed = affine(tokens.view(N * T, dim), weights.key_value.T)
        packed = packed.view(N, T, 2, self.heads, -1)
        key, value = packed.permute(2, 0, 1, 3, 4)
        by_hand = tokens.device.type == "cpu" and not weights.learning
        attended = (by_products if by_hand else fused)(query, key, value, filling)
        joined = affine(attended.reshape(N * read, dim), weights.combine.T).add_(asking)
        return self.finish(asking, joined, weights, shown).view(N, read, dim)

    def finish(
        self, tokens: Tensor, joined: Tensor, weights: Weights, shown: Tensor | None = None
    ) -> Tensor:
        """Apply the norms and the feed-forward to tokens ``[rows, d]``.

        Not ``[N, T, d]``: linear maps of those return views, and writing into a view costs a copy
        of its gradient in the backward pass.

        Parameters
        ----------
        tokens
            The input of the layer.
        joined
            The sum of the tokens and their attention output.
        weights
            The result of `weights`.
        shown
            Bool ``[rows]``: the tokens over which batch normalisation takes its statistics. None:
            all. The others are padding, and are not normalised.
        """
        joined = self.norm(joined)
        joined = among(self.norm1, joined.add_(tokens), shown)  # the residual is added twice
        wide = affine(joined, weights.expand.T, self.expand.bias, relu=True)
        changed = affine(wide, weights.contract.T, self.contract.bias).add_(joined)
        return among(self.norm2, changed, shown)


def among(norm: nn.Module, tokens: Tensor, shown: Tensor | None) -> Tensor:
    """Normalise tokens ``[rows, d]``, or only those that are shown."""
    if shown is None:
        return cast(Tensor, norm(tokens))
    return tokens.index_put((shown,), norm(tokens[shown]).to(tokens.dtype))


def fused(query: Tensor, key: Tensor, value: Tensor, filling: Tensor | None) -> Tensor:
    """Attend by torch's function, which keeps least memory for the backward pass.

    Parameters
    ----------
    query
        ``[N, read, H, W]``.
    key, value
        ``[N, T, H, W]``.
    filling
        ``[N, T]``, added to the scores of each token.

    Returns
    -------
    ``[N, read, H, W]``.
    """
    mask = None if filling is None else filling[:, None, None]
    query, key, value = (tensor.transpose(1, 2) for tensor in (query, key, value))
    attended = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=1)
    return attended.transpose(1, 2)


def by_products(query: Tensor, key: Tensor, value: Tensor, filling: Tensor | None) -> Tensor:
    """Do what `fused` does, in half the time on a CPU if heads are narrow and views short.

    Softmax over the last dimension is slow there. It is fast over another dimension if the length
    of the last one is a multiple of 16. So the queries are padded to a multiple of 16, except if at
    most three exceed one.
    """
    N, read, H, W = query.shape
    more = -read % 16 if read % 16 > 3 else 0
    query = F.pad(query.flatten(2).transpose(1, 2), (0, more)).reshape(N * H, W, -1)
    key, value = (tensor.transpose(1, 2).reshape(N * H, -1, W) for tensor in (key, value))
    if filling is None:
        scores = key @ query  # [N * H, T, read + more]
    else:
        filling = filling[:, None].expand(-1, H, -1).reshape(N * H, -1, 1)
        scores = torch.baddbmm(filling, key, query)
    attended = scores.softmax(dim=1).transpose(1, 2) @ value
    return attended.view(N, H, -1, W)[:, :, :read].transpose(1, 2)


def transposed(weight: Tensor) -> Tensor:
    """Return a weight ``[out, in]`` as ``[in, out]``, with which MKL is a sixth faster."""
    return weight.T.contiguous()
