"""Solutions that are scored are replayed: incomplete and infeasible ones are refused."""

import math
from typing import Any

import attrs
import pytest
import torch
from torch import Tensor

import lifelong_co as lco
from lifelong_co.errors import ComponentError, InvalidRolloutError
from lifelong_co.protocols import Rollout
from lifelong_co.rollout.verification import (
    all_valid,
    best_of,
    complete,
    fault,
    require_starts,
    require_valid,
)


def tsp(batch: int = 1, size: int = 4) -> Any:
    """Return TSP instances."""
    nodes = torch.rand(batch, size, 2, generator=torch.Generator().manual_seed(0))
    return lco.problem("tsp").instances(nodes=nodes)


def cvrp() -> Any:
    """Return one instance with three customers, of which two fit a route."""
    nodes = torch.rand(1, 3, 2, generator=torch.Generator().manual_seed(0))
    return lco.problem("cvrp").instances(
        depot=torch.zeros(1, 1, 2), nodes=nodes, demand=torch.full((1, 3), 0.5)
    )


@pytest.mark.parametrize(
    ("actions", "valid"),
    [
        ([0, 1, 2, 3], True),
        ([3, 1, 0, 2], True),
        ([0, 1, 1, 3], False),
        ([0, 0, 0, 0], False),
        ([0, 1, 2], False),
        ([0, 1, 2, 4], False),
        ([0, 1, 2, -1], False),
        ([0, 1, 2, 3, 1], False),
    ],
)
def test_tour_visits_every_node_once(actions: list[int], valid: bool) -> None:
    """Missing, repeated and unknown nodes are refused."""
    found = complete(lco.problem("tsp"), tsp(), torch.tensor([[actions]]))
    assert found.tolist() == [[valid]]


@pytest.mark.parametrize(
    ("actions", "valid"),
    [
        ([1, 2, 0, 3, 0], True),
        ([1, 0, 2, 0, 3, 0], True),
        ([1, 2, 0, 3, 0, 0, 0], True),
        ([1, 2, 0, 3, 0, 1, 0], False),
        ([1, 2, 3, 0], False),
        ([1, 2, 0, 3], False),
        ([1, 2, 0, 0], False),
        ([1, 0, 0, 2, 3, 0], False),
        ([0, 1, 2, 0, 3, 0], False),
    ],
)
def test_routes_keep_the_capacity(actions: list[int], valid: bool) -> None:
    """Routes end at the depot, and a finished solution may wait there."""
    found = complete(lco.problem("cvrp"), cvrp(), torch.tensor([[actions]]))
    assert found.tolist() == [[valid]]


def test_forced_actions_are_allowed() -> None:
    """The forced visit to the depot at the start is infeasible and no fault; another one is."""
    actions = torch.tensor([[[0, 1, 2, 0, 3, 0]]])
    depot = torch.zeros(1, 1, dtype=torch.long)
    assert complete(lco.problem("cvrp"), cvrp(), actions, [depot]).all()
    assert not complete(lco.problem("cvrp"), cvrp(), actions, [depot + 1]).any()


def test_problem_with_infeasible_starts_is_named() -> None:
    """The solver is not to blame."""
    tsp, node = lco.problem("tsp"), torch.zeros(1, 1, dtype=torch.long)
    batch = tsp.instances(nodes=torch.rand(1, 3, 2, generator=torch.Generator()))
    require_starts(tsp, batch, ())
    require_starts(tsp, batch, (node, node, node + 1))
    with pytest.raises(ComponentError, match=r"problem 'tsp': starts\[2\]: expected .* got node 0"):
        require_starts(tsp, batch, (node, node + 1, node))


def test_forced_action_that_moves_must_be_feasible() -> None:
    """Otherwise a problem whose starts are out of reach has costs below the optimum."""
    tsp, nodes = lco.problem("tsp"), torch.rand(1, 3, 2, generator=torch.Generator())
    actions = torch.tensor([[[0, 1, 1]]])
    forced = [*actions.unbind(2)]
    assert not complete(tsp, tsp.instances(nodes=nodes), actions, forced[:2]).any()
    assert complete(tsp, tsp.instances(nodes=nodes), torch.tensor([[[0, 1, 2]]]), forced).all()
    two = torch.tensor([[[0, 1, 2, 3]]])
    full = lco.problem("cvrp").instances(
        depot=torch.zeros(1, 1, 2), nodes=nodes, demand=torch.full((1, 3), 0.6)
    )
    assert not complete(lco.problem("cvrp"), full, two, [*two.unbind(2)]).any()


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("solver", ["pomo", "invit"])
@pytest.mark.parametrize("trajectories", [None, 3])
def test_solutions_of_solvers_are_valid(
    problem: str, solver: str, trajectories: int | None
) -> None:
    """Untrained networks give valid solutions; the best cost is the least."""
    instances = lco.distribution("U", problem).sample(
        5, 9, generator=torch.Generator().manual_seed(0)
    )
    options = {"action_k": 4, "state_k": [5, 7]} if solver == "invit" else {}
    made = lco.solver(solver, problem, **options)
    with torch.no_grad():
        found = made.rollout(instances, "greedy", trajectories=trajectories)
    cost, valid = best_of(made.problem, instances, found)
    assert torch.equal(cost, found.cost.min(dim=1).values)
    assert valid.all()
    assert all_valid(made.problem, instances, found).all()


def rollout(actions: Tensor, cost: Tensor) -> Rollout:
    """Return solutions with these costs."""
    return Rollout(actions=actions, cost=cost, log_likelihood=torch.zeros_like(cost))


def test_best_trajectory_decides() -> None:
    """A bad trajectory that is not scored is no fault, except if its cost is not finite."""
    good, bad = [0, 1, 2, 3], [0, 0, 0, 0]
    actions = torch.tensor([[good, bad], [bad, good], [good, good]])
    length = lco.problem("tsp").cost(tsp(3), torch.tensor([[good]] * 3))
    found = rollout(actions, length + torch.tensor([[0.0, 2.0], [0.0, 2.0], [0.0, math.inf]]))
    cost, valid = best_of(lco.problem("tsp"), tsp(3), found)
    assert torch.equal(cost, length[:, 0])
    assert valid.tolist() == [True, False, False]
    assert all_valid(lco.problem("tsp"), tsp(3), found).tolist() == [False, False, False]


@pytest.mark.parametrize("wrong", [0.5, 1.01, -1.0])
def test_cost_that_is_not_that_of_the_actions_is_no_fault_of_theirs(wrong: float) -> None:
    """A solver that says another cost is refused; actions out of range are, too."""
    problem, instances = lco.problem("tsp"), tsp(2)
    actions = torch.tensor([[[0, 1, 2, 3]], [[3, 1, 0, 2]]])
    cost = problem.cost(instances, actions)
    assert best_of(problem, instances, rollout(actions, cost))[1].tolist() == [True, True]
    factor = torch.tensor([[1.0], [wrong]])
    assert best_of(problem, instances, rollout(actions, factor * cost))[1].tolist() == [True, False]
    assert not best_of(problem, instances, rollout(actions + 2, cost))[1].any()


def test_cost_is_the_one_that_the_problem_counts() -> None:
    """A solver may have rounded it; the cost of an invalid solution is the solver's."""
    problem, instances = lco.problem("tsp"), tsp(2)
    actions = torch.tensor([[[0, 1, 2, 3]], [[3, 1, 0, 2]]])
    counted = problem.cost(instances, actions)
    said = counted * torch.tensor([[0.9995], [0.5]])
    cost, valid = best_of(problem, instances, rollout(actions, said))
    assert valid.tolist() == [True, False]
    assert torch.equal(cost, torch.stack([counted[0, 0], said[1, 0]]))


def test_refusal_names_solver_and_first_instance() -> None:
    """The first invalid instance is counted from 1."""
    solver = lco.solver("pomo", "tsp")
    costs = torch.tensor([3.0, 0.5, math.nan])
    require_valid(solver, costs, torch.tensor([True, True, True]))
    with pytest.raises(InvalidRolloutError, match=r"POMO, instance 2 of 3: .* \(cost 0.5\)"):
        require_valid(solver, costs, torch.tensor([True, False, False]))
    next(solver.module.parameters()).data[0] = math.nan
    with pytest.raises(InvalidRolloutError, match="its parameters are not finite"):
        require_valid(solver, costs, torch.tensor([True, False, False]))


@pytest.mark.parametrize("decode", ["greedy", "sample"])
@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("name", ["pomo", "omni", "invit"])
def test_network_with_nan_parameters_gives_no_valid_solution(
    name: str, problem: str, decode: Any
) -> None:
    """Decoding ends without an index error, and the log-likelihood is not finite either."""
    options = {"action_k": 4, "state_k": [5, 7]} if name == "invit" else {}
    solver = lco.solver(name, problem, **options)
    for parameter in solver.module.parameters():
        torch.nn.init.constant_(parameter, math.nan)
    instances = lco.distribution("U", problem).sample(
        2, 6, generator=torch.Generator().manual_seed(0)
    )
    found = solver.rollout(instances, decode)
    assert not found.log_likelihood.isfinite().any()
    assert not best_of(solver.problem, instances, attrs.evolve(found))[1].any()


@pytest.mark.parametrize(
    ("actions", "reason"),
    [
        ([0, 1, 2, 0, 3, 0], ""),
        ([1, 2, 0, 3, 0], ""),
        ([0, 1, 2, 3, 0], "visits node 3 in step 4, where it is not feasible"),
        ([0, 1, 1, 0], "visits node 1 2 times"),
        ([0, 1, 2, 0], "ends before it is complete (node 3 is not visited)"),
        ([0, 1, 2, 0, 3], "ends before it is complete"),
        ([0, 1, 2, 0, 4, 0], "expected nodes 0 to 3, got 4"),
        ([], "ends before it is complete (node 1 is not visited)"),
    ],
)
def test_fault_says_where_actions_break_the_rules(actions: list[int], reason: str) -> None:
    """Only the problem's rules decide; the depot may come first."""
    assert fault(lco.problem("cvrp"), cvrp(), actions) == reason
