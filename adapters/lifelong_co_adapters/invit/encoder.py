"""The encoders of INViT: layers over the tokens of one view, which return the first few tokens.

The last layer computes only the tokens that are returned.
"""

import math
from typing import cast

import torch
from torch import Tensor, nn

from lifelong_co_adapters.invit.layer import Folded, Layer

# Kinds of tokens, in the order of a view's blocks of features.
KINDS = ("node", "last", "anchor")
# How many tokens a CPU encodes at a time without gradients. Larger pieces of memory are slower: the
# operating system clears them at each allocation.
TOKENS = 2048


class Encoder(nn.Module):
    """The encoder of one view.

    Parameters
    ----------
    widths
        The number of features of each kind of token; a view may have no anchor.
    width
        The number of features in the block of each kind, at least each of ``widths``.
    dim, heads, dim_ff, layers
        Width, heads and layers of the attention; ``dim_ff`` is the width of the feed-forward.
    batchnorm
        Whether to normalise channels over all tokens of the batch, without padding, instead of each
        token.
    """

    def __init__(
        self, widths: dict[str, int], *, width: int, dim: int, heads: int, dim_ff: int, layers: int,
        batchnorm: bool,
    ) -> None:  # fmt: skip
        super().__init__()
        self.width = width
        self.batchnorm = batchnorm
        self.embeddings = nn.ModuleDict({kind: nn.Linear(k, dim) for kind, k in widths.items()})
        self.layers = nn.ModuleList(Layer(dim, heads, dim_ff, batchnorm) for _ in range(layers))

    def fold(self) -> Folded:
        """Return the embeddings and the first layer's attention in terms of a view's features.

        Every kind has a block of the largest width. The features that a kind lacks count nothing.
        """
        node = cast(nn.Linear, self.embeddings["node"])
        width, dim = self.width, node.out_features
        blocks, constant = [], []
        for kind in KINDS:
            if kind in self.embeddings:
                linear = cast(nn.Linear, self.embeddings[kind])
                unused = node.weight.new_zeros((width - linear.in_features, dim))
                blocks += [linear.weight.T, unused, linear.bias[None]]
            else:
                blocks.append(node.weight.new_zeros((width + 1, dim)))
            constant += [0.0] * width + [1.0]
        blocks.append(node.weight.new_zeros((1, dim)))  # for the feature that hides a token
        embedding = torch.cat(blocks)
        layers = [cast(Layer, module) for module in self.layers]
        scores, mixed = layers[0].fold(embedding, embedding.new_tensor([*constant, 0.0]))
        weights = [layer.weights() for layer in layers]
        return Folded(embedding=embedding, scores=scores, mixed=mixed, weights=weights)

    def forward(self, features: Tensor, folded: Folded, read: int) -> Tensor:
        """Map a view's features ``[N, T, f]`` to ``[N, read, d]``."""
        parts = math.ceil(features.shape[0] * features.shape[1] / TOKENS)
        apart = not (folded.weights[0].learning or self.batchnorm)
        if parts > 1 and apart and features.device.type == "cpu":
            return torch.cat([self.encode(part, folded, read) for part in features.chunk(parts)])
        return self.encode(features, folded, read)

    def encode(self, features: Tensor, folded: Folded, read: int) -> Tensor:
        """Do what `forward` does, with all rows at once."""
        T, last = features.shape[1], len(self.layers) - 1
        filling: Tensor | None = features[..., -1]
        if features.device.type == "cpu" and not bool(features[..., -1].any()):
            filling = None  # usual for the TSP, except in batches with states of several steps
        # How much padding there is depends on the device.
        over_batch = self.batchnorm and self.training and filling is not None
        shown = (features[..., -1] == 0).flatten() if over_batch else None
        tokens = features
        for i, module in enumerate(self.layers):
            layer = cast(Layer, module)
            asking = read if i == last and not self.batchnorm else T
            if i == 0:
                tokens = layer.first(features, folded, asking, shown)
            else:
                tokens = layer(tokens, filling, asking, folded.weights[i], shown)
        return tokens[:, :read]
