"""A behavior comes back bit for bit from its feasible actions."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from lifelong_co.replay.behavior_packing import (
    pack_behavior,
    pack_on_device,
    unpack_behavior,
    unpack_on_device,
)


@st.composite
def behaviors(draw: st.DrawFn) -> Tensor:
    """Draw ``[B, S, A]`` in half or double precision; every state has a feasible action."""
    shape = draw(st.tuples(*(st.integers(1, most) for most in (4, 3, 20))))
    dtype = draw(st.sampled_from([torch.float16, torch.float64]))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 999)))
    share = draw(st.floats(0, 1))
    values = torch.randn(shape, generator=generator).to(dtype)
    infeasible = torch.rand(shape, generator=generator) < share
    infeasible[..., -1] = False
    return values.masked_fill(infeasible, -torch.inf)


@given(behaviors(), st.data())
def test_rows_are_restored(behavior: Tensor, data: st.DataObject) -> None:
    """All rows, or some in any order, have the same bits, with as few values as the fullest."""
    values, bits = pack_behavior(behavior)
    feasible = (behavior != -torch.inf).flatten(1)
    assert values.shape[1] == feasible.sum(dim=1).max()
    assert bits.dtype == torch.uint8
    _, S, A = behavior.shape
    assert torch.equal(unpack_behavior(values, bits, (S, A)), behavior)
    rows = torch.tensor(data.draw(st.lists(st.integers(0, len(behavior) - 1), min_size=1)))
    assert torch.equal(unpack_behavior(values[rows], bits[rows], (S, A)), behavior[rows])


@given(behaviors())
def test_other_devices_do_the_same(behavior: Tensor) -> None:
    """Torch packs to the same bits as numpy, and unpacks them."""
    flat = behavior.flatten(1)
    values, bits = pack_behavior(behavior)
    its_values, its_bits = pack_on_device(flat)
    assert torch.equal(values, its_values)
    assert torch.equal(bits, its_bits)
    assert torch.equal(unpack_on_device(values, flat != -torch.inf), flat)
