"""What the official code compares: softmaxes of probabilities, which are nearly flat."""

import math

import pytest
import torch

import lifelong_co as lco


@pytest.mark.parametrize("actions", [21, 101])
@pytest.mark.parametrize("scale", [0.5, 2.0, 8.0])
def test_divergences_of_softmaxes_are_nearly_a_squared_distance(actions: int, scale: float) -> None:
    """Both directions are about ``sum (Q - P)^2 / (2 A)``: docs/paper_and_code.md says so.

    The second order is exact for even behaviors; certain ones (``scale`` 8) are further apart.
    """
    drawn = torch.Generator().manual_seed(0)
    logits = scale * torch.randn(2, 5000, actions, generator=drawn, dtype=torch.float64)
    teacher, learner = logits.softmax(dim=-1).unbind()
    squared = (learner - teacher).square().sum(dim=-1) / (2 * actions)
    flat = (teacher.log_softmax(dim=-1), learner.log_softmax(dim=-1))
    kl, rkl = (lco.divergence(name)(*flat) for name in ("kl", "rkl"))
    for each in (kl, rkl):
        assert torch.corrcoef(torch.stack((each, squared)))[0, 1] > 0.97
        assert (each / squared).min() > 0.9
        assert (each / squared).max() < math.e
    assert torch.corrcoef(torch.stack((kl, rkl)))[0, 1] > 0.92
    assert float(kl.mean()) == pytest.approx(float(rkl.mean()), rel=0.02)
