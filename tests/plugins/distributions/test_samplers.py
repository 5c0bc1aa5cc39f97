"""The fast samplers: no loop over instances; where the text of the paper differs from the code."""

import pytest
import torch
from lifelong_co_plugins.distributions import demand
from lifelong_co_plugins.distributions.noise import Noise
from lifelong_co_plugins.distributions.samplers import SAMPLERS
from torch import Tensor
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


class Lowest(Noise):
    """Noise whose normal draws are all far below their mean."""

    def normal(self, *shape: int) -> Tensor:
        """Return minus nine standard deviations."""
        return torch.full(shape, -9.0)


@pytest.mark.parametrize(
    ("name", "paper", "units"), [("E", False, 1), ("E", True, 0), ("C", False, 9), ("C", True, 10)]
)
def test_least_gaussian_demand_is_1_or_0(name: str, paper: bool, units: int) -> None:
    """The code clamps draws at 1, the paper at 0; C has what is left of 10."""
    _, drawn = SAMPLERS[name](Lowest(generator(0)), 3, 20, torch.zeros(3, 1, 2), paper)
    assert drawn is not None
    assert drawn.unique().tolist() == [units]


def test_explosion_of_the_paper_has_the_same_nodes_with_and_without_depot() -> None:
    """It clips a TSP to the square, too; the code stretches it to all four sides."""
    for paper in (True, False):
        tsp, cvrp = (
            SAMPLERS["E"](Noise(generator(0)), 50, 20, depot, paper)[0]
            for depot in (None, torch.zeros(50, 1, 2))
        )
        assert torch.equal(tsp, cvrp) is paper
        assert bool((tsp.amax(dim=1) == 1).all()) is not paper


@pytest.mark.parametrize(("paper", "longest"), [(True, 1.0), (False, 1 - 1e-5)])
def test_longer_side_of_a_grid(paper: bool, longest: float) -> None:
    """It is that of the square in the paper, and a little less in the code."""
    placed, _ = SAMPLERS["G"](Noise(generator(0)), 50, 20, None, paper)
    extents = (placed.amax(dim=1) - placed.amin(dim=1)).amax(dim=1)
    torch.testing.assert_close(extents, torch.full_like(extents, longest), rtol=0, atol=1e-6)


@pytest.mark.parametrize(("paper", "most"), [(True, 2.0), (False, 1.0)])
def test_noise_of_the_demands_of_a_ring(
    paper: bool, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is U(0, 2) in the paper and U(0, 1) in the code; 1,000 draws come near both ends."""
    added: list[Tensor] = []

    def by_depot(nodes: Tensor, depot: Tensor, noise: Tensor, **options: bool) -> Tensor:
        added.append(noise)
        return demand_of(nodes, depot, noise, **options)

    demand_of = demand.by_depot
    monkeypatch.setattr(demand, "by_depot", by_depot)
    SAMPLERS["R"](Noise(generator(0)), 50, 20, torch.zeros(50, 1, 2), paper)
    (drawn,) = added
    assert 0 <= float(drawn.min()) < 0.02
    assert 0.98 * most < float(drawn.max()) <= most
