"""The fast samplers: no loop over instances."""

import pytest
import torch
from lifelong_co_plugins.distributions.noise import Noise
from lifelong_co_plugins.distributions.samplers import SAMPLERS
from torch.utils._python_dispatch import TorchDispatchMode

NAMES = ["U", "GM", "E", "C", "G", "R"]


def generator(seed: int) -> torch.Generator:
    """Return a new stream."""
    return torch.Generator().manual_seed(seed)


class Operations(TorchDispatchMode):
    """Lists the tensor operations that run."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("paper", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_samplers_neither_loop_over_instances_nor_wait_for_the_device(
    name: str, paper: bool
) -> None:
    """The operations are the same for 2 and for 50 instances, and none reads a value."""
    runs = []
    for batch in (2, 50):
        noise = Noise(generator(0))
        depot = noise.uniform(batch, 1, 2)
        with Operations() as operations:
            SAMPLERS[name](noise, batch, 20, depot, paper)
        runs.append(operations.names)
    assert runs[0] == runs[1]
    waiting = ("_local_scalar_dense", "nonzero", "masked_select", "aten.index.", "index_put")
    assert runs[0]
    assert not [name for name in runs[0] if any(word in name for word in waiting)]
