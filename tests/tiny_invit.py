"""A small INViT, and states of its random walks."""

from typing import Any

import torch

import lifelong_co as lco
from lifelong_co.tensors import records

TINY: dict[str, Any] = {
    "dim_emb": 8,
    "dim_ff": 8,
    "nb_heads": 2,
    "action_k": 3,
    "state_k": [4, 6],
}


def tiny(name: str, **options: Any) -> Any:
    """Return a small solver in float64, the same on every call."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        solver = lco.solver("invit", problem=name, **{**TINY, **options})
    solver.module.double()
    return solver


def drawn(name: str, batch: int, size: int, seed: int = 0) -> Any:
    """Return instances with two equal nodes and, for the CVRP, a demand of 0 and one of 1/2."""
    generator = torch.Generator().manual_seed(seed)
    instances = lco.distribution("U", name).sample(batch, size, generator=generator)
    instances = records.transform(instances, lambda tensor: tensor.double())
    instances.nodes[:, 1] = instances.nodes[:, 0]
    if name == "cvrp":
        instances.demand.mul_(5)  # routes of a few customers, so that not all are reachable
        instances.demand[:, 2], instances.demand[:, 3] = 0, 0.5
        instances.demand.clamp_(max=1)
    return instances


def walk(problem: Any, instances: Any, trajectories: int) -> list[Any]:
    """Return the states of random feasible walks, from the first action to before the last."""
    generator = torch.Generator().manual_seed(1)
    state = problem.reset(instances, trajectories)
    states = []
    while not problem.done(instances, state).all():
        states.append(state)
        mask = problem.feasible(instances, state).double()
        action = mask.flatten(0, 1).multinomial(1, generator=generator)
        state = problem.step(instances, state, action.view(mask.shape[:2]))
    return states[1:]  # from the first action on, a TSP trajectory is at a node


def mixed(name: str) -> tuple[Any, Any]:
    """Return instances and states of several steps in one batch, as in replay."""
    problem = lco.problem(name)
    instances = drawn(name, batch=2, size=12)
    states = walk(problem, instances, trajectories=2)[::2]
    return (
        records.concatenate([instances] * len(states)),
        records.concatenate(states),
    )
