"""What the present route of the multi-task VRP can reach."""

import torch
from variants import VARIANTS, drawn

from lifelong_co.problems.mtvrp import MTVRP
from lifelong_co.problems.mtvrp_state import at, in_order, reached


def test_points_are_picked_by_trajectory() -> None:
    """The point of each trajectory is that of its index."""
    points = torch.rand(2, 5, 2)
    index = torch.tensor([[0, 4, 4], [1, 2, 3]])
    found = at(points, index)
    assert torch.equal(found[1, 2], points[1, 3])
    assert found.shape == (2, 3, 2)


def test_larger_tolerance_reaches_no_fewer_customers() -> None:
    """A customer in reach stays in reach when the tolerance grows."""
    batch = drawn(VARIANTS[-1], batch=5, size=10)
    problem = MTVRP()
    state = problem.step(batch, problem.reset(batch, 10), problem.starts(batch, 10)[1])
    for strict, loose in zip(reached(batch, state, 0.0), reached(batch, state, 0.3), strict=True):
        assert bool((loose | ~strict).all())
        assert not torch.equal(loose, strict)


def test_only_backhauls_follow_a_backhaul() -> None:
    """Linehauls come first; at the depot both are in order."""
    batch = MTVRP().instances(
        depot=torch.zeros(1, 1, 2),
        nodes=torch.rand(1, 3, 2),
        demand=torch.tensor([[0.5, 0.0, 0.0]]),
        pickup=torch.tensor([[0.0, 0.5, 0.5]]),
    )
    problem = MTVRP()
    state = problem.reset(batch, 3)
    assert bool(in_order(batch, state).all())
    state = problem.step(batch, state, torch.tensor([[0, 1, 2]]))
    yes, no = True, False
    assert in_order(batch, state).tolist() == [[[yes] * 3, [yes] * 3, [no, yes, yes]]]
