"""Products of batches, with gradients in bfloat16."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from lifelong_co_adapters.pomo.bfloat16_products import product

sizes = st.integers(min_value=1, max_value=40)


@given(st.integers(1, 4), sizes, sizes, sizes, st.booleans(), st.integers(0, 2**31))
def test_values_and_gradients_are_those_of_single_precision(
    B: int, S: int, K: int, N: int, exact: bool, seed: int
) -> None:
    """An exact value is that of `torch.baddbmm` bit for bit; others are sums of rounded terms."""
    generator = torch.Generator().manual_seed(seed)
    made = [torch.randn(shape, generator=generator) for shape in ((B, 1, N), (B, S, K), (B, K, N))]
    grad = torch.randn((B, S, N), generator=generator)
    outcomes = []
    for ours in (True, False):
        bias, left, right = (each.clone().requires_grad_() for each in made)
        if ours:
            value = product(bias, left, right, right.detach().bfloat16(), exact=exact)
        else:
            value = torch.baddbmm(bias, left, right)
        outcomes.append([value.detach(), *torch.autograd.grad(value, (bias, left, right), grad)])
    mine, its = outcomes
    assert not exact or torch.equal(mine[0], its[0])
    torch.testing.assert_close(mine[1], its[1])
    for found, expected, terms in zip(
        (mine[0], *mine[2:]), (its[0], *its[2:]), (K, N, S), strict=True
    ):
        # Three roundings of half a step 2^-8; products of normal numbers are below 25.
        torch.testing.assert_close(found, expected, rtol=2**-7, atol=2**-7 * 5 * terms**0.5)
        assert found.dtype == torch.float32
