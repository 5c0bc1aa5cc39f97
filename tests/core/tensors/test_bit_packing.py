"""Packing of booleans and its inverse; numpy and torch give the same bytes."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from lifelong_co.tensors.bit_packing import pack_bits, pack_on_device, unpack_bits, unpack_on_device


@given(
    shape=st.tuples(st.integers(0, 3), st.integers(1, 3), st.integers(1, 20)),
    seed=st.integers(0, 999),
    turned=st.booleans(),
)
def test_packed_bits_are_restored(shape: tuple[int, int, int], seed: int, turned: bool) -> None:
    """It holds for any width and memory layout, packed by numpy or by torch."""
    generator = torch.Generator().manual_seed(seed)
    flags = torch.rand(shape, generator=generator) < 0.5
    if turned:  # a transposed view
        flags = flags.transpose(1, 2).contiguous().transpose(1, 2)
    octets = pack_bits(flags)
    width = shape[-1]
    assert octets.shape == (*shape[:-1], -(-width // 8))
    assert octets.dtype == torch.uint8
    assert torch.equal(octets, pack_on_device(flags))
    assert torch.equal(unpack_bits(octets, width), flags)
    assert torch.equal(unpack_on_device(octets, width), flags)


def test_first_flag_is_the_lowest_bit() -> None:
    """So checkpoints have the same meaning on every machine."""
    flags = torch.tensor([[True, False, True] + [False] * 6 + [True]])
    assert pack_bits(flags).tolist() == [[5, 2]]
