"""The candidates that INViT sees, and the capacity."""

import pytest
import torch
from goldens import PROBLEMS
from tiny_invit import TINY, mixed, tiny

import lifelong_co as lco

both = pytest.mark.parametrize("name", PROBLEMS)

strictness = pytest.mark.parametrize("strict", [False, True])


@both
def test_only_the_nearest_are_candidates(name: str) -> None:
    """Actions with a probability are feasible, and no nearer feasible node is left out."""
    solver = tiny(name)
    instances, state = mixed(name)
    with torch.no_grad():
        positive = solver.log_probs(solver.encode(instances), state) > -torch.inf
    feasible = solver.problem.feasible(instances, state)
    assert not (positive & ~feasible).any()
    if name == "cvrp":
        assert torch.equal(positive[..., 0], feasible[..., 0])
        positive, feasible = positive[..., 1:], feasible[..., 1:]
        points = torch.cat((instances.depot, instances.nodes), dim=1)
    else:
        points = instances.nodes
    here = points.gather(1, state.current[..., None].expand(-1, -1, 2))
    far = (instances.nodes[:, None] - here[:, :, None]).square().sum(dim=3)
    order = far.masked_fill(~feasible, torch.inf).sort(dim=2, stable=True).indices
    near = torch.zeros_like(feasible).scatter(2, order[..., : TINY["action_k"]], True)
    assert torch.equal(positive, near & feasible)
    assert (feasible.sum(dim=2) > TINY["action_k"]).any()


@strictness
def test_demand_of_the_whole_capacity_is_served(strict: bool) -> None:
    """Each such customer has a separate route, even with the strict rule."""
    problem = lco.problem("cvrp")
    solver = tiny("cvrp", strict_capacity=strict)
    generator = torch.Generator().manual_seed(0)
    nodes = torch.rand(2, 5, 2, dtype=torch.float64, generator=generator)
    instances = problem.instances(
        depot=nodes[:, :1], nodes=nodes, demand=torch.ones(2, 5, dtype=torch.float64)
    )
    with torch.no_grad():
        actions = solver.rollout(instances, "sample", generator=generator).actions[:, 0]
    assert (actions[:, 1::2] == 0).all()
    expected = torch.arange(1, 6).expand(2, -1)
    assert torch.equal(actions[:, :9:2].sort(dim=1).values, expected)


def test_strict_capacity_leaves_some_load() -> None:
    """A customer that takes the whole load is feasible, but not strictly while others are."""
    problem = lco.problem("cvrp")
    demand = torch.tensor([[0.5, 1.0, 0.5, 0.3, 0.0]], dtype=torch.float64)
    nodes = torch.rand(1, 5, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    instances = problem.instances(depot=nodes[:, :1], nodes=nodes, demand=demand)
    state = problem.reset(instances, 1)
    assert problem.feasible(instances, state).tolist() == [[[False] + [True] * 5]]
    strictly = problem.strictly_feasible(instances, state)
    assert strictly.tolist() == [[[False, True, False, True, True, True]]]
    state = problem.step(instances, state, torch.tensor([[1]]))
    strictly = problem.strictly_feasible(instances, state)
    assert strictly.tolist() == [[[True, False, False, False, True, True]]]
    assert problem.unfinished(state).tolist() == [[[False, False, True, True, True, True]]]
    for strict, count in ((False, 4), (True, 3)):
        solver = tiny("cvrp", strict_capacity=strict)
        with torch.no_grad():
            log_probs = solver.log_probs(solver.encode(instances), state)
        assert int((log_probs > -torch.inf).sum()) == count
