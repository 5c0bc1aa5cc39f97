"""Fields of a state come back as they were, or are refused."""

import pytest
import torch

from lifelong_co.errors import ComponentError
from lifelong_co.replay.state_packing import integers_for, pack, unpack


@pytest.mark.parametrize(("actions", "kind"), [(127, torch.int8), (128, torch.int16)])
def test_numbers_of_actions_are_small(actions, kind):
    """The largest fits."""
    numbers = torch.arange(actions)[None]
    packed = pack(numbers, integers_for(actions), "current")
    assert packed.dtype == kind
    assert torch.equal(unpack(packed, None), numbers)


@pytest.mark.parametrize("wrong", [200, 450, -129])
def test_integers_that_do_not_fit_are_refused(wrong):
    """450 minutes would come back as -62."""
    minutes = torch.tensor([[5, wrong]])
    with pytest.raises(ComponentError, match=rf"state, minutes: expected .*, got {wrong}"):
        pack(minutes, integers_for(8), "minutes")


def test_booleans_and_floats_keep_their_values():
    """Booleans are bits."""
    flags, load = torch.rand(3, 4, 5) > 0.5, torch.rand(3, 4)
    packed = pack(flags, torch.int8, "visited")
    assert packed.numel() < flags.numel()
    assert torch.equal(unpack(packed, (4, 5)), flags)
    assert torch.equal(unpack(pack(load, torch.int8, "load"), None), load)
