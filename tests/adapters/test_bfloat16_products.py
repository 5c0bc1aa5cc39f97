"""Products in single precision with gradients in bfloat16."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from lifelong_co_adapters.bfloat16_products import exact_product

sizes = st.integers(min_value=1, max_value=40)


@given(st.integers(1, 4), sizes, sizes, sizes, st.integers(min_value=0, max_value=2**31))
def test_value_is_exact_and_gradients_are_rounded(
    B: int, S: int, K: int, N: int, seed: int
) -> None:
    """The value is bit for bit that of `torch.baddbmm`; gradients are sums of rounded products."""
    generator = torch.Generator().manual_seed(seed)
    made = [torch.randn(shape, generator=generator) for shape in ((B, 1, N), (B, S, K), (B, K, N))]
    grad = torch.randn((B, S, N), generator=generator)
    outcomes = []
    for exact in (True, False):
        bias, left, right = (each.clone().requires_grad_() for each in made)
        if exact:
            value = torch.baddbmm(bias, left, right)
        else:
            value = exact_product(bias, left, right, right.detach().bfloat16())
        outcomes.append([value, *torch.autograd.grad(value, (bias, left, right), grad)])
    its, mine = outcomes
    assert torch.equal(mine[0], its[0])
    torch.testing.assert_close(mine[1], its[1])
    for found, expected, terms in zip(mine[2:], its[2:], (N, S), strict=True):
        # Three roundings of half a step 2^-8; products of normal numbers are below 25.
        torch.testing.assert_close(found, expected, rtol=2**-7, atol=2**-7 * 5 * terms**0.5)
        assert found.dtype == torch.float32
