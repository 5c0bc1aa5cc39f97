"""The multi-task VRP in its 16 variants: rules, costs, and the CVRP as one of them."""

from itertools import chain
from typing import Any

import attrs
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import Walk, identical, walk
from variants import TOLERANCE, VARIANTS, drawn, faults, length, routes, variant_instances

import lifelong_co as lco
from lifelong_co.problems.cvrp import CVRP
from lifelong_co.problems.mtvrp import MTVRP
from lifelong_co.problems.mtvrp_instances import MTVRPInstances
from lifelong_co.replay.experience import record
from lifelong_co.rollout.verification import best_of, complete
from lifelong_co.tensors import records
from lifelong_co.testing import check_problem, check_solver

variants = pytest.mark.parametrize("names", VARIANTS, ids="+".join)
TINY = {"embedding_dim": 16, "head_num": 2, "qkv_dim": 8, "encoder_layer_num": 1}


def walked(batch: MTVRPInstances, seed: int = 0, trajectories: int = 4, forced: int = 1) -> Walk:
    """Take random feasible actions until all trajectories are done."""
    return walk(MTVRP(), batch, trajectories, forced, torch.Generator().manual_seed(seed))


@given(variant_instances(), st.integers(0, 2**32 - 1), st.integers(1, 2))
def test_random_feasible_actions_make_a_valid_solution(
    batch: MTVRPInstances, seed: int, forced: int
) -> None:
    """Feasible actions end in a solution that obeys all rules, within `steps`."""
    found = walked(batch, seed, forced=forced)
    n = MTVRP().size(batch)
    least, most = MTVRP().steps(n)
    assert least <= found.actions.shape[2] <= most
    assert bool(MTVRP().done(batch, found.states[-1]).all())
    cost = MTVRP().cost(batch, found.actions)
    for b, solutions in enumerate(found.actions.tolist()):
        for s, actions in enumerate(solutions):
            of_solution = list(routes(actions))
            assert sorted(chain.from_iterable(of_solution)) == list(range(1, n + 1))
            assert [faults(batch, b, route) for route in of_solution] == [set()] * len(of_solution)
            total = sum(length(batch, b, route) for route in of_solution)
            assert float(cost[b, s]) == pytest.approx(total, abs=1e-4)


@variants
def test_mask_equals_the_rules(names: tuple[str, ...]) -> None:
    """A customer is feasible exactly where the route with it breaks no rule."""
    batch = drawn(names, seed=7, dtype=torch.float64)
    found = walked(batch)
    n = MTVRP().size(batch)
    for t, mask in enumerate(found.masks):
        for b in range(3):
            for s in range(4):
                past = found.actions[b, s, :t].tolist()
                here = past[len(past) - past[::-1].index(0) :] if 0 in past else past
                rest = set(range(1, n + 1)) - set(past)
                allowed = {i for i in rest if not faults(batch, b, [*here, i])}
                away = bool(here) or not rest
                assert set(mask[b, s].nonzero().flatten().tolist()) == (
                    allowed | {0} if away else allowed
                )


@given(variant_instances(), st.integers(0, 2**32 - 1))
def test_masks_are_never_empty(batch: MTVRPInstances, seed: int) -> None:
    """Every state has a feasible action, and a strictly feasible one."""
    found = walked(batch, seed)
    for state, mask in zip(found.states, found.masks, strict=True):
        strict = MTVRP().strictly_feasible(batch, state)
        assert bool(mask.any(dim=2).all())
        assert bool(strict.any(dim=2).all())
        assert bool((mask | ~strict).all())


@given(variant_instances(), st.integers(0, 2**32 - 1))
def test_finished_trajectory_stays_at_the_depot(batch: MTVRPInstances, seed: int) -> None:
    """At the end only the depot is feasible, and a visit there changes no cost."""
    found = walked(batch, seed)
    last = found.masks[-1]
    assert bool(last[..., 0].all())
    assert not bool(last[..., 1:].any())
    longer = torch.cat((found.actions, torch.zeros_like(found.actions[..., :1])), dim=2)
    cost = MTVRP().cost(batch, found.actions)
    torch.testing.assert_close(MTVRP().cost(batch, longer), cost)


@given(variant_instances(), st.integers(0, 2**32 - 1))
def test_variant_does_not_depend_on_its_batch(batch: MTVRPInstances, seed: int) -> None:
    """In a batch with other variants, an instance has the same masks, states and costs."""
    B, n = len(batch.nodes), batch.nodes.shape[1]
    found = walked(batch, seed)
    others = [drawn(names, batch=1, size=n, dtype=batch.nodes.dtype) for names in VARIANTS]
    mixed = records.concatenate([batch, *others])
    state = MTVRP().reset(mixed, 4)
    for t, mask in enumerate(found.masks):
        rows = slice(B)
        assert torch.equal(MTVRP().feasible(mixed, state)[rows], mask)
        if t == len(found.masks) - 1:
            assert identical(records.select(state, rows), found.states[-1])
            return
        action = torch.zeros(B + len(others), 4, dtype=torch.long)
        action[rows] = found.actions[..., t]
        state = MTVRP().step(mixed, state, action)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_without_attributes_costs_and_masks_are_those_of_the_cvrp(dtype: torch.dtype) -> None:
    """The same actions have the same cost and the same masks, bit for bit."""
    batch = drawn((), batch=8, size=20, dtype=dtype)
    plain = CVRP().instances(depot=batch.depot, nodes=batch.nodes, demand=batch.demand)
    found = walked(batch, trajectories=20, forced=2)
    state = CVRP().reset(plain, 20)
    for t, mask in enumerate(found.masks):
        assert torch.equal(CVRP().feasible(plain, state), mask)
        strict = MTVRP().strictly_feasible(batch, found.states[t])
        assert torch.equal(CVRP().strictly_feasible(plain, state), strict)
        assert torch.equal(state.load, found.states[t].load)
        if t < found.actions.shape[2]:
            state = CVRP().step(plain, state, found.actions[..., t])
    cost = MTVRP().cost(batch, found.actions)
    assert torch.equal(CVRP().cost(plain, found.actions), cost)


def test_without_attributes_a_solver_solves_it_as_the_cvrp() -> None:
    """POMO with the CVRP's parameters takes the same actions, at the same cost bit for bit.

    The parameters of the other features do not matter: these features are 0.
    """
    batch = drawn((), batch=8, size=20, dtype=torch.float64)
    plain = CVRP().instances(depot=batch.depot, nodes=batch.nodes, demand=batch.demand)
    small, large = (lco.solver("pomo", problem=name, **TINY) for name in ("cvrp", "mtvrp"))
    for solver in (small, large):
        solver.module.double()
    with torch.no_grad():
        source = small.module.state_dict()
        for name, parameter in large.module.state_dict().items():
            parameter[..., : source[name].shape[-1]].copy_(source[name])
        expected, found = small.rollout(plain, "greedy"), large.rollout(batch, "greedy")
    assert torch.equal(found.actions, expected.actions)
    assert torch.equal(found.cost, expected.cost)


# Customers at a distance of 0.1, 0.2 and 0.3 on a line; the depot is at 0.
LINE: dict[str, Any] = {
    "depot": torch.zeros(1, 1, 2, dtype=torch.float64),
    "nodes": torch.tensor([[[0.1, 0], [0.2, 0], [0.3, 0]]], dtype=torch.float64),
    "demand": torch.full((1, 3), 0.25, dtype=torch.float64),
}


def line(**fields: object) -> MTVRPInstances:
    """Return the instance `LINE` with other fields."""
    wide = {name: torch.tensor([value]).double() for name, value in fields.items()}
    return MTVRP().instances(**LINE | wide)


def valid(batch: MTVRPInstances, *actions: int) -> bool:
    """Return whether the verification of rollouts accepts a solution."""
    return bool(complete(MTVRP(), batch, torch.tensor([[actions]]), [torch.zeros(1, 1).long()]))


WINDOWS = [[0.0, 1.0], [0.0, 0.25], [0.0, 0.6]]
BACKHAUL = {"pickup": [0.0, 0.5, 0.6], "demand": [0.25, 0.0, 0.0]}


@pytest.mark.parametrize(
    ("fields", "good", "bad"),
    [
        ({"demand": [0.5, 0.5, 0.5]}, (0, 1, 2, 0, 3, 0), (0, 1, 2, 3, 0)),
        ({"windows": WINDOWS, "horizon": 2.0}, (0, 2, 1, 3, 0), (0, 3, 2, 1, 0)),
        ({"service": [0.2, 0.2, 0.2], "horizon": 0.95}, (0, 1, 2, 0, 3, 0), (0, 1, 2, 3, 0)),
        ({"limit": 0.6}, (0, 1, 2, 3, 0), (0, 1, 3, 2, 1, 0)),
        ({"limit": 0.6}, (0, 1, 2, 3, 0), (0, 2, 1, 3, 0)),
        ({"limit": 0.35, "open": 1.0}, (0, 1, 2, 3, 0), (0, 3, 2, 0, 1, 0)),
        (BACKHAUL, (0, 1, 2, 0, 3, 0), (0, 2, 1, 0, 3, 0)),
        (BACKHAUL, (0, 1, 3, 0, 2, 0), (0, 1, 2, 3, 0)),
        ({}, (0, 1, 2, 3, 0), (0, 1, 3, 0)),
        ({}, (0, 1, 2, 3, 0), (0, 1, 2, 3, 2)),
    ],
    ids=[
        *("capacity", "window", "horizon", "twice", "limit", "open limit"),
        *("backhaul first", "pickups", "missing", "no end"),
    ],
)
def test_infeasible_solutions_are_found_infeasible(
    fields: dict[str, object], good: tuple[int, ...], bad: tuple[int, ...]
) -> None:
    """The verification accepts a solution that obeys the rules, and refuses one that does not."""
    batch = line(**fields)
    assert valid(batch, *good)
    assert not valid(batch, *bad)


def test_strict_mask_leaves_room_for_another_pickup() -> None:
    """After a pickup of a half, a second one would fill the vehicle: only the depot is left."""
    batch = line(pickup=[0.0, 0.5, 0.5], demand=[0.25, 0.0, 0.0])
    state = MTVRP().step(batch, MTVRP().reset(batch, 1), torch.tensor([[2]]))
    assert MTVRP().feasible(batch, state).tolist() == [[[True, False, False, True]]]
    assert MTVRP().strictly_feasible(batch, state).tolist() == [[[True, False, False, False]]]


def test_open_routes_end_at_their_last_customer() -> None:
    """The way back is free, is no part of the limit, and may end after the horizon."""
    batch = line(open=1.0, limit=0.3, horizon=0.3)
    assert valid(batch, 0, 1, 2, 3, 0)
    cost = MTVRP().cost(batch, torch.tensor([[[0, 1, 2, 3, 0, 0]]]))
    assert float(cost) == pytest.approx(0.3)


@variants
def test_images_have_the_cost_and_the_masks_of_their_instance(names: tuple[str, ...]) -> None:
    """All eight images have equal costs and masks."""
    batch = drawn(names)
    found = walked(batch)
    images = MTVRP().augment(batch)
    actions = found.actions.repeat(8, 1, 1)
    torch.testing.assert_close(
        MTVRP().cost(images, actions), MTVRP().cost(batch, found.actions).repeat(8, 1)
    )
    state = MTVRP().reset(images, 4)
    for t, mask in enumerate(found.masks):
        assert torch.equal(MTVRP().feasible(images, state), mask.repeat(8, 1, 1))
        if t < actions.shape[2]:
            state = MTVRP().step(images, state, actions[..., t])


def test_features_of_a_customer_are_in_their_order() -> None:
    """Coordinates, demand, pickup, earliest and latest time, service time."""
    batch = drawn(("time-windows", "backhauls"), size=20)
    one = (batch.nodes, torch.stack((batch.demand, batch.pickup), dim=2))
    columns = torch.cat((*one, batch.windows, batch.service[..., None]), dim=2)
    assert torch.equal(MTVRP().features(batch)["node"], columns)


@variants
def test_features_and_contexts_are_finite_and_0_without_their_attribute(
    names: tuple[str, ...],
) -> None:
    """No infinity reaches a network, and an absent attribute is 0 in features and contexts."""
    batch = drawn(names, size=20)
    features = MTVRP().features(batch)
    assert {kind: tensor.shape[2] for kind, tensor in features.items()} == MTVRP.feature_dims
    assert all(bool(tensor.isfinite().all()) for tensor in features.values())
    shown = {
        "time-windows": [features["depot"][..., 2], features["node"][..., 4:]],
        "limit": [features["depot"][..., 3]],
        "open": [features["depot"][..., 4]],
        "backhauls": [features["node"][..., 3]],
    }
    scalars = torch.stack([MTVRP().context(state).scalars for state in walked(batch).states])
    assert scalars.shape[3] == MTVRP.context_scalars
    assert bool(scalars.isfinite().all())
    for index, name in ((1, "backhauls"), (2, "time-windows"), (3, "limit"), (4, "open")):
        shown[name].append(scalars[..., index])
    for name, tensors in shown.items():
        assert [bool(tensor.any()) for tensor in tensors] == [name in names] * len(tensors)


SOLVERS: dict[str, dict[str, Any]] = {
    "pomo": TINY,
    "omni": TINY,
    "invit": {"dim_emb": 16, "dim_ff": 16, "nb_heads": 2, "action_k": 4, "state_k": (6, 8)},
}


@pytest.mark.parametrize("solver_name", SOLVERS)
@variants
def test_solvers_solve_every_variant(names: tuple[str, ...], solver_name: str) -> None:
    """A rollout of each of our solvers is valid, and its log-likelihood is finite."""
    batch = drawn(names, batch=4, size=10)
    solver = lco.solver(solver_name, problem="mtvrp", **SOLVERS[solver_name])
    with torch.no_grad():
        rollout = solver.rollout(batch, "sample", generator=torch.Generator().manual_seed(0))
    assert bool(best_of(MTVRP(), batch, rollout)[1].all())
    assert bool(rollout.log_likelihood.isfinite().all())


@pytest.mark.parametrize("solver_name", SOLVERS)
@pytest.mark.parametrize("names", [VARIANTS[5], VARIANTS[-1]], ids="+".join)
def test_solvers_pass_the_checks_of_the_contract(names: tuple[str, ...], solver_name: str) -> None:
    """`check_solver` passes on instances with attributes."""
    torch.manual_seed(0)
    solver = lco.solver(solver_name, problem="mtvrp", **SOLVERS[solver_name])
    check_solver(solver, instances=drawn(names, batch=3, size=8, seed=2))


@variants
def test_every_variant_passes_the_check_of_problems(names: tuple[str, ...]) -> None:
    """`check_problem` passes."""
    check_problem(MTVRP(), instances=drawn(names, size=7))


def test_costs_of_open_routes_are_those_of_closed_ones_without_the_way_back() -> None:
    """For the same actions, the difference is the distance of the last customers."""
    closed = drawn((), dtype=torch.float64)
    opened = attrs.evolve(closed, open=torch.ones_like(closed.open))
    found = walked(closed)
    saved = MTVRP().cost(closed, found.actions) - MTVRP().cost(opened, found.actions)
    away = (closed.nodes - closed.depot).norm(dim=2)
    for b, solutions in enumerate(found.actions.tolist()):
        for s, actions in enumerate(solutions):
            last = sum(float(away[b, route[-1] - 1]) for route in routes(actions))
            assert float(saved[b, s]) == pytest.approx(last, abs=TOLERANCE)


@given(variant_instances(), st.integers(0, 2**32 - 1))
def test_experiences_come_back_as_they_were(batch: MTVRPInstances, seed: int) -> None:
    """A state of any variant is packed and unpacked exactly."""
    found = walked(batch, seed)
    for state, mask in zip(found.states, found.masks, strict=True):
        packed = record(0, batch, state, torch.where(mask, -0.5, -torch.inf))
        assert identical(packed.state(), state)
