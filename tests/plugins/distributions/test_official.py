"""The official order of random numbers: a prefix of a larger draw, at any size."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from lifelong_co_plugins.distributions import official

from lifelong_co.tensors.records import tensors

NAMES = ["U", "GM", "E", "C", "G", "R"]


def test_fewer_instances_in_official_order_are_a_prefix() -> None:
    """Another seed gives other instances."""
    few = official.draw("E", 3, 30, with_demand=True, seed=5, of=8)
    all_of_them = official.draw("E", 8, 30, with_demand=True, seed=5)
    other = official.draw("E", 3, 30, with_demand=True, seed=6, of=8)
    for field, array in tensors(few).items():
        assert torch.equal(array, getattr(all_of_them, field)[:3])
        assert not torch.equal(array, getattr(other, field))


@given(
    name=st.sampled_from(NAMES),
    with_demand=st.booleans(),
    size=st.integers(2, 60),
    seed=st.integers(0, 2**40),
)
def test_official_order_is_well_formed_at_any_size(
    name: str, with_demand: bool, size: int, seed: int
) -> None:
    """The official order also works where the official code fails (small GM)."""
    drawn = official.draw(name, 2, size, with_demand=with_demand, seed=seed)
    assert drawn.nodes.shape == (2, size, 2)
    assert drawn.nodes.min() >= 0
    assert drawn.nodes.max() <= 1
    assert (drawn.depot is None) == (drawn.demand is None) == (not with_demand)
    if drawn.demand is not None:
        assert drawn.demand.shape == (2, size)
        assert torch.equal(drawn.demand, drawn.demand.round())
        assert drawn.demand.min() >= 0
        assert drawn.demand.max() <= 10
