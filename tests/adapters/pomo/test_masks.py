"""Masks that are added to scores."""

import pytest
import torch
from lifelong_co_adapters.pomo.masks import minus_infinity


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_mask_is_minus_infinity_or_zero(dtype: torch.dtype) -> None:
    """It is -inf exactly where the condition holds, and 0 elsewhere."""
    where = torch.tensor([[True, False], [False, True]])
    mask = minus_infinity(where, dtype)
    assert mask.dtype == dtype
    assert torch.equal(mask.isneginf(), where)
    assert torch.equal(mask.masked_fill(where, 0), torch.zeros(2, 2, dtype=dtype))
