"""Checks of weightings and divergences, on random behaviors with infeasible actions."""

from collections.abc import Iterator

import torch
from torch import Tensor

from lifelong_co.protocols import Divergence, Weighting
from lifelong_co.seeding import generator
from lifelong_co.testing.contract import (
    expect,
    expect_close,
    expect_everywhere,
    expect_function,
    expect_shape,
)

SHAPES = ((6,), (4, 6), (3, 4, 6), (2, 3, 2))
"""Shapes ``[..., A]`` of the behaviors."""
SCALES = (0.0, 1.0, 30.0)
"""Standard deviations of logits: uniform, ordinary and nearly certain behaviors."""
ROUNDING = 1e-4
"""How far below 0 rounding may move a weight or a distance."""


def check_weighting(weighting: Weighting, *, seed: int = 0) -> None:
    """Check a weighting of experiences, in float32 and float64.

    - It maps probs ``[..., A]`` to finite weights ``[...]`` of the same dtype, at least 0 (up to
      rounding, 1e-4).
    - The weight of a state depends on its behavior only: it is the same at a second call, for a
      part of the states, and after other behaviors.
    - It does not change its input.

    Raises
    ------
    ContractError
        If the weighting breaks its contract.
    """
    check, earlier = "check_weighting", []
    expect_function(check, weighting, "probs")
    for behavior in _behaviors(seed):
        probs = behavior.exp()
        before, shape = probs.clone(), tuple(probs.shape[:-1])
        weights = weighting(probs)
        expect_shape(check, f"weights for probs {list(probs.shape)}", weights, shape)
        expect(weights.dtype == probs.dtype, check, f"weights of {probs.dtype}", weights.dtype)
        sound = weights.isfinite() & (weights >= -ROUNDING)
        expect_everywhere(check, "finite weights of at least 0", sound, weights)
        expect(torch.equal(probs, before), check, "probs that stay unchanged", "changed probs")
        expect_close(check, "the same weights at a second call", weighting(probs), weights)
        if len(shape):
            part, want = weighting(probs[-1:]), weights[-1:]
            expect_close(check, "the same weights for a part of the states", part, want)
        earlier.append((before, weights.clone()))
    for probs, weights in earlier:
        expect_close(check, "the same weights after other behaviors", weighting(probs), weights)


def check_divergence(divergence: Divergence, *, seed: int = 0) -> None:
    """Check a divergence between teacher and learner, in float32 and float64.

    - It maps log-probs ``[..., A] x [..., A]`` to finite distances ``[...]`` of the same dtype.
    - The distance is at least 0 (up to rounding), 0 for equal behaviors, and more than 0 for
      different ones.
    - Its gradient by the learner is finite. It is 0 for an action that is -inf in both.
    - Only the teacher, or only the learner, may have an action of -inf.
    - The distance in a state does not depend on the other states.

    Raises
    ------
    ContractError
        If the divergence breaks its contract.
    """
    check = "check_divergence"
    expect_function(check, divergence, "teacher, learner")
    behaviors = list(_behaviors(seed))
    for teacher, other in zip(behaviors, reversed_in_pairs(behaviors), strict=True):
        shared = teacher.isneginf()
        # Logits 0 replace -inf, so that exactly the teacher's actions are feasible.
        moved = other.nan_to_num(neginf=0.0).masked_fill(shared, -torch.inf)
        learners = {
            "the same behavior": teacher,
            "the same feasible actions": _normalised(moved),
            "other feasible actions": other,
        }
        for what, learner in learners.items():
            _check_distance(check, divergence, teacher, learner, what)


def _check_distance(
    check: str, divergence: Divergence, teacher: Tensor, learner: Tensor, what: str
) -> None:
    shape, dtype = tuple(teacher.shape[:-1]), teacher.dtype
    leaf = learner.clone().requires_grad_()
    with torch.enable_grad():
        found = divergence(teacher, leaf)
    expect_shape(check, f"distances for log-probs {list(teacher.shape)}", found, shape)
    expect(found.dtype == dtype, check, f"distances of {dtype}", found.dtype)
    expect(found.requires_grad, check, "distances with gradients by the learner", "none")
    distance = found.detach()
    sound = distance.isfinite() & (distance >= -ROUNDING)
    expect_everywhere(check, f"finite distances of at least 0 ({what})", sound, distance)
    apart = (teacher.exp() - learner.exp()).abs().amax(dim=-1)
    zero = torch.zeros_like(distance).where(apart == 0, distance)
    expect_close(check, "the distance 0 for equal behaviors", distance, zero)
    positive = (distance > 0) | (apart < 0.1)
    expect_everywhere(check, f"distances above 0 ({what})", positive, distance)
    (gradient,) = torch.autograd.grad(found.sum(), leaf)
    label = f"gradients by the learner ({what})"
    expect_everywhere(check, f"finite {label}", gradient.isfinite(), gradient)
    both = teacher.isneginf() & learner.isneginf()
    idle = ~both | (gradient == 0)
    expect_everywhere(check, f"{label} of 0 where both are -inf", idle, gradient)
    if len(shape):
        part = divergence(teacher[-1:], learner[-1:])
        expect_close(check, "the same distances for a part of the states", part, distance[-1:])


def _behaviors(seed: int) -> Iterator[Tensor]:
    """Yield log-probs ``[..., A]``, -inf where infeasible; one action is always feasible."""
    stream = generator(seed, "testing behaviors")
    for dtype in (torch.float32, torch.float64):
        for shape in SHAPES:
            for scale in SCALES:
                logits = scale * torch.randn(shape, generator=stream, dtype=dtype)
                infeasible = torch.rand(shape, generator=stream) < 0.4
                infeasible[..., 0] = False
                yield _normalised(logits.masked_fill(infeasible, -torch.inf))


def reversed_in_pairs(behaviors: list[Tensor]) -> list[Tensor]:
    """Return for each behavior another one of the same shape and dtype."""
    others = []
    for start in range(0, len(behaviors), len(SCALES)):
        others += behaviors[start : start + len(SCALES)][::-1]
    return others


def _normalised(logits: Tensor) -> Tensor:
    return logits.log_softmax(dim=-1)
