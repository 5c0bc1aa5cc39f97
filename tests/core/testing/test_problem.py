"""`check_problem` passes the shipped problems and names the fault of a wrong one."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest
import torch
from torch import Tensor

import lifelong_co as lco
from lifelong_co import testing
from lifelong_co.problems.cvrp import CVRP
from lifelong_co.tensors import records


class Changed:
    """The CVRP with some members replaced; a function gets the CVRP before its arguments."""

    def __init__(self, **members: Any) -> None:
        self.members = members

    def __getattr__(self, name: str) -> Any:
        member = self.members.get(name)
        if member is None:
            return getattr(CVRP(), name)
        if member is ...:
            raise AttributeError(name)
        if not callable(member) or isinstance(member, type):
            return member
        return lambda *given, **named: member(CVRP(), *given, **named)


def evolved(member: str, change: Callable[[Any], Any]) -> Changed:
    """Return the CVRP whose member returns a changed result."""
    return Changed(
        **{member: lambda p, *given, **named: change(getattr(p, member)(*given, **named))}
    )


def in_place(problem: CVRP, instances: Any, state: Any, action: Tensor) -> Any:
    """Take a step and change the state before it."""
    after = problem.step(instances, state, action)
    state.visited.copy_(after.visited)
    return after


def by_batch(problem: CVRP, instances: Any, state: Any) -> Tensor:
    """Allow the depot at the depot, too, in a batch of two instances."""
    feasible = problem.feasible(instances, state).clone()
    feasible[..., 0] |= len(feasible) == 2
    return feasible


def no_way_back(problem: CVRP, instances: Any, state: Any) -> Tensor:
    """Forbid the depot where all customers are served."""
    feasible = problem.feasible(instances, state).clone()
    feasible[..., 0] &= ~state.visited[..., 1:].all(dim=2)
    return feasible


def idle_when_done(problem: CVRP, instances: Any, state: Any) -> Tensor:
    """Allow nothing in a finished state."""
    feasible = problem.feasible(instances, state)
    return feasible & ~problem.done(instances, state)[..., None]


def unchecked(problem: CVRP, **fields: Any) -> Any:
    """Accept any numbers."""
    return problem.instances_type(**fields)


def no_demand(problem: CVRP, *, depot: Any, nodes: Any) -> None:
    """Take only coordinates."""


def stretched(instances: Any) -> Any:
    """Return images that are larger than the instance, except the first."""
    B = len(instances.nodes) // 8
    factor = torch.ones(8 * B, 1, 1)
    factor[B:] = 2
    return attrs.evolve(instances, nodes=factor * instances.nodes, depot=factor * instances.depot)


def reversed_images(instances: Any) -> Any:
    """Return the images in reverse order."""
    B = len(instances.nodes) // 8
    order = torch.arange(8 * B).view(8, B).flip(0).flatten()
    return records.select(instances, order)


def without_last(features: dict[str, Tensor]) -> dict[str, Tensor]:
    """Leave out the last customer."""
    return {**features, "node": features["node"][:, :-1]}


# What is wrong -> (a part of the message, the problem).
MUTANTS: dict[str, tuple[str, Any]] = {
    "no step": ("without step", Changed(step=...)),
    "another instance type": (
        "instances of TSPInstances",
        Changed(instances_type=lco.problem("tsp").instances_type),
    ),
    "another state type": (
        "a TSPState after reset",
        Changed(state_type=lco.problem("tsp").state_type),
    ),
    "size of zero": ("size(instances) of at least 1, got 0", Changed(size=lambda *_: 0)),
    "NaN accepted": ("InvalidInstancesError for depot with NaN", Changed(instances=unchecked)),
    "no demand": ("instances(…) that accepts its fields", Changed(instances=no_demand)),
    "current as int": (
        "long state.current",
        evolved("reset", lambda s: attrs.evolve(s, current=s.current.int())),
    ),
    "load in minutes": (
        "integers from -1 to A - 1 = 10 in state.load after reset, got 480",
        evolved("reset", lambda s: attrs.evolve(s, load=torch.full_like(s.current, 480))),
    ),
    "load without S": (
        "state after reset.load, a tensor of shape [3, 10, …]",
        evolved("reset", lambda s: attrs.evolve(s, load=s.load[:, :1])),
    ),
    "feasible as float": (
        "bool feasible after reset",
        evolved("feasible", lambda mask: mask.float()),
    ),
    "done squeezed": (
        "done after reset of shape [3, 10]",
        evolved("done", lambda done: done.any(dim=1)),
    ),
    "unfinished without depot": (
        "unfinished after reset of shape [3, 10, 11]",
        evolved("unfinished", lambda mask: mask[..., 1:]),
    ),
    "dead end": ("a feasible action [B, S] before step", Changed(feasible=no_way_back)),
    "strict allows more": (
        "strictly_feasible within feasible",
        evolved("strictly_feasible", torch.ones_like),
    ),
    "strict allows nothing": (
        "a strictly feasible action",
        evolved("strictly_feasible", torch.zeros_like),
    ),
    "starts as int": (
        "long starts[0]",
        evolved("starts", lambda starts: tuple(s.int() for s in starts)),
    ),
    "starts beyond": (
        "starts[1] from 0 to 10, got 11",
        evolved("starts", lambda starts: (starts[0], starts[1] + 1)),
    ),
    "starts of one": (
        "starts[0] of shape [3, 10]",
        evolved("starts", lambda starts: tuple(s[:, :1] for s in starts)),
    ),
    "step in place": ("leaves its state unchanged, got a changed visited", Changed(step=in_place)),
    "current not the action": (
        "the action taken",
        evolved("step", lambda s: attrs.evolve(s, current=s.current * 0)),
    ),
    "one number of steps": ("steps(n) of two numbers", Changed(steps=lambda *_: 12)),
    "context as a table": ("a Context, got dict", Changed(context=lambda *_: {})),
    "done in place": (
        "done(…) that leaves its state unchanged, got a changed visited",
        Changed(done=lambda p, i, s: s.visited.logical_not_() is None or p.done(i, s)),
    ),
    "cost in place": (
        "cost(…) that leaves its instances unchanged, got a changed nodes",
        Changed(cost=lambda p, i, a: i.nodes.mul_(0.9) is None or p.cost(i, a)),
    ),
    "too few steps": ("at most steps(n)[1] = 12", evolved("steps", lambda steps: (steps[0], 12))),
    "too many steps": ("at least steps(n)[0] = 99", Changed(steps=lambda *_: (99, 100))),
    "idle when done": ("in every finished state", Changed(feasible=idle_when_done)),
    "waiting costs": ("after waiting", Changed(cost=lambda p, i, a: p.cost(i, a) + a.shape[2])),
    "cost over trajectories": (
        "one trajectory alone",
        evolved("cost", lambda cost: cost + cost.sum()),
    ),
    "cost over instances": (
        "the same cost [B, S] on a part of the batch",
        evolved("cost", lambda cost: cost + cost.sum(dim=0)),
    ),
    "cost in double": (
        "cost of the instances' dtype torch.float32",
        evolved("cost", Tensor.double),
    ),
    "profit": ("costs [B, S] of at least 0, got -", evolved("cost", lambda cost: -cost)),
    "NaN cost": ("finite costs [B, S], got nan", evolved("cost", lambda cost: cost * torch.nan)),
    "cost of S + 1": (
        "cost of shape [3, 10]",
        evolved("cost", lambda cost: torch.cat((cost, cost[:, :1]), dim=1)),
    ),
    "mask over instances": ("a part of the batch", Changed(feasible=by_batch)),
    "four images": (
        "augment(…) with 8 B = 24",
        evolved("augment", lambda i: records.select(i, slice(12))),
    ),
    "first image turned": ("of the first image", evolved("augment", reversed_images)),
    "images stretched": ("the same cost [B, S] on an image", evolved("augment", stretched)),
    "start out of reach": (
        "starts[3] that is feasible, or the present node, got 1",
        evolved("starts", lambda starts: (*starts, starts[1].roll(1, 1), starts[1])),
    ),
    "feature order": (
        "features depot, node in this order, got node, depot",
        evolved("features", lambda f: {"node": f["node"], "depot": f["depot"]}),
    ),
    "depot last": (
        "features depot, node in this order, the depot first, got node, depot",
        Changed(
            feature_dims={"node": 3, "depot": 2},
            features=lambda p, i: dict(reversed(p.features(i).items())),
        ),
    ),
    "feature names": (
        "features depot, node in this order, got depot, nodes",
        evolved("features", lambda f: {"depot": f["depot"], "nodes": f["node"]}),
    ),
    "feature width": (
        "features['node'] of shape [3, *, 4]",
        Changed(feature_dims={"depot": 2, "node": 4}),
    ),
    "feature NaN": (
        "finite numbers in features['depot']",
        evolved("features", lambda f: {**f, "depot": f["depot"] * torch.nan}),
    ),
    "missing features": (
        "features of all A = 11 actions, got 10",
        evolved("features", without_last),
    ),
    "context role": ("with the roles first, last", Changed(context_nodes=("first", "last"))),
    "context node": (
        "nodes['last'] from 0 to 10",
        evolved("context", lambda c: attrs.evolve(c, nodes={"last": c.nodes["last"] - 1})),
    ),
    "context width": ("scalars after step 0 of shape [3, 10, 2]", Changed(context_scalars=2)),
    "context without need": ("no context(…).scalars", Changed(context_scalars=0)),
    "context NaN": (
        "finite context(…).scalars",
        evolved("context", lambda c: attrs.evolve(c, scalars=c.scalars * torch.nan)),
    ),
    "unfinished depot": (
        "unfinished False at a depot before step 0",
        evolved("unfinished", torch.ones_like),
    ),
    "nothing unfinished": (
        "an unfinished node [B, S] at first",
        evolved("unfinished", torch.zeros_like),
    ),
    "unfinished to the end": (
        "unfinished False at each visited node in the end",
        evolved(
            "unfinished", lambda left: torch.ones_like(left).index_fill(2, torch.tensor([0]), False)
        ),
    ),
    "cost of 0": ("costs with a mean above 0, got 0.0", evolved("cost", torch.zeros_like)),
    "lost rows": (
        "instances(…) of 3 rows, got 1",
        evolved("instances", lambda made: records.select(made, slice(0, 1))),
    ),
    "nowhere": (
        "nowhere after step 0 of shape [3, 10]",
        evolved("context", lambda c: attrs.evolve(c, nowhere=torch.ones(3, dtype=torch.bool))),
    ),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", [2, 10])
@pytest.mark.parametrize(
    ("name", "distribution"), [("tsp", "GM"), ("cvrp", "GM"), ("mtvrp", "GM"), ("atsp", "tmat")]
)
def test_shipped_problem_passes(
    name: str, distribution: str, size: int, dtype: torch.dtype
) -> None:
    """All registered problems keep the contract, on drawn and on given instances."""
    problem = lco.problem(name)
    drawn = lco.distribution(distribution, problem).sample(2, size, generator=torch.Generator())
    testing.check_problem(problem, distribution=distribution, size=size)
    testing.check_problem(problem, instances=records.transform(drawn, lambda x: x.to(dtype)))


def test_instances_in_any_order_in_memory_pass() -> None:
    """A plugin may transpose what it draws."""
    tsp = lco.problem("tsp")
    nodes = torch.rand(3, 2, 10, generator=torch.Generator().manual_seed(0)).transpose(1, 2)
    testing.check_problem(tsp, instances=tsp.instances(nodes=nodes))


@pytest.mark.parametrize("mutant", MUTANTS)
def test_fault_is_named(mutant: str) -> None:
    """A problem with one fault is refused in one line that names the member."""
    says, problem = MUTANTS[mutant]
    instances = lco.distribution("U", "cvrp").sample(
        3, 10, generator=torch.Generator().manual_seed(0)
    )
    with pytest.raises(testing.ContractError) as caught:
        testing.check_problem(problem, instances=instances)
    said = str(caught.value)
    assert said.startswith("check_problem: expected ")
    assert says in said
    assert "\n" not in said


def test_one_instance_is_too_few() -> None:
    """The check compares instances of a batch."""
    with pytest.raises(lco.ConfigError, match="at least 2, got 1"):
        testing.check_problem(lco.problem("tsp"), batch=1)


def test_problem_whose_fields_nothing_draws_needs_instances() -> None:
    """The error names the problem and the distribution."""
    kind = attrs.make_class("Windy", ["nodes", "wind"])
    with pytest.raises(lco.ConfigError, match=r"'mine'.*'GM' cannot draw"):
        testing.check_problem(Changed(name="mine", instances_type=kind), distribution="GM")
