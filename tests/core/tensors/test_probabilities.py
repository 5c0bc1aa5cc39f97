"""Probabilities from log-probabilities."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lifelong_co.tensors.probabilities import probabilities


@given(values=st.lists(st.floats(-80, 0) | st.just(-math.inf), min_size=1, max_size=40))
def test_probabilities_are_exponentials(values: list[float]) -> None:
    """The error is within 1e-5, and -inf gives exactly 0."""
    logs = torch.tensor(values)
    found = probabilities(logs)
    torch.testing.assert_close(found, logs.double().exp().float(), rtol=1e-5, atol=0)
    assert bool((found[logs == -math.inf] == 0).all())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradients_are_those_of_the_exponential(dtype: torch.dtype) -> None:
    """No gradient is NaN at -inf."""
    logs = torch.tensor([-3.0, 0.0, -math.inf, -20.0], dtype=dtype, requires_grad=True)
    probabilities(logs).sum().backward()
    torch.testing.assert_close(logs.grad, logs.detach().exp(), rtol=1e-5, atol=0)
