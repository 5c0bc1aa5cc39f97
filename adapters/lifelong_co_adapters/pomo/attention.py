"""Attention in several heads, in the way that is fastest where it runs."""

import math

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

# Up to how many actions a CPU attends by plain products. PyTorch's fused kernel (2.13) does not
# get faster by a second thread; but beyond, what plain products keep for the backward pass is much.
PLAIN_ACTIONS = 128


def attention(query: Tensor, key: Tensor, value: Tensor, forbid: Tensor | None = None) -> Tensor:
    """Return what each query attends to, ``[B, H, S, d]``.

    Parameters
    ----------
    query
        ``[B, H, S, d]``.
    key, value
        ``[B, H, A, d]``.
    forbid
        ``[B, S, A]``, added to the scores of every head: 0 or -inf.
    """
    B, H, A, d = key.shape
    if A > PLAIN_ACTIONS or key.device.type != "cpu":
        mask = None if forbid is None else forbid[:, None]
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    flat = query.reshape(B * H, -1, d) * (1 / math.sqrt(d))
    scores = torch.bmm(flat, key.reshape(B * H, A, d).transpose(1, 2))
    if forbid is not None:
        scores = (scores.view(B, H, -1, A) + forbid[:, None]).view(B * H, -1, A)
    return torch.bmm(scores.softmax(dim=2), value.reshape(B * H, A, d)).view(B, H, -1, d)
