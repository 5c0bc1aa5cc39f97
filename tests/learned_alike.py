"""A training step on given actions, and a comparison of its gradients in two solvers."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import lifelong_co as lco
from lifelong_co.protocols import Rollout
from lifelong_co.tensors import records


def instances_of(problem: str, size: int, batch: int, dtype: torch.dtype = torch.float64) -> Any:
    """Draw instances."""
    drawn = lco.distribution("U", problem).sample(
        batch, size, generator=torch.Generator().manual_seed(size)
    )
    return records.transform(drawn, lambda tensor: tensor.to(dtype))


@torch.no_grad()
def sampled(solver: Any, instances: Any, trajectories: int) -> Tensor:
    """Return the actions ``[B, S, T]`` of a sampled rollout, the same on every call."""
    stream = torch.Generator().manual_seed(1)
    rollout = solver.rollout(instances, "sample", trajectories=trajectories, generator=stream)
    actions: Tensor = rollout.actions
    return actions


def learn(solver: Any, instances: Any, actions: Tensor, forced: int) -> Tensor:
    """Differentiate the solver's objective on actions ``[B, S, T]``; return the probabilities.

    The states of all unforced steps are decided at once, as separate trajectories: a policy depends
    only on the state.
    """
    problem = solver.problem
    _, S, T = actions.shape
    states = [problem.reset(instances, S)]
    for t in range(T - 1):
        states.append(problem.step(instances, states[-1], actions[:, :, t]))
    fields = [records.tensors(state) for state in states[forced:]]
    joined = {key: torch.cat([field[key] for field in fields], dim=1) for key in fields[0]}
    log_probs = solver.log_probs(solver.encode(instances), problem.state_type(**joined))
    taken = actions[:, :, forced:].transpose(1, 2).flatten(1)  # [B, T' * S]
    chosen = log_probs.gather(2, taken[..., None]).view(-1, T - forced, S)
    cost = problem.cost(instances, actions)
    rollout = Rollout(actions=actions, cost=cost, log_likelihood=chosen.sum(dim=1))
    solver.objective().loss(instances, rollout).backward()
    probs: Tensor = log_probs.detach().exp()
    return probs


def assert_gradients_alike(ours: Any, theirs: Any, renamed: Callable[..., Any]) -> None:
    """Check that gradients agree to 1e-5, relative to the largest of a parameter.

    Parameters
    ----------
    renamed
        Gives the official parameters our names: ``from_official`` of the adapter.
    """
    expected = renamed(
        {key: parameter.grad for key, parameter in theirs.module.named_parameters()},
        ours.module.state_dict(),
    )
    largest = max(float(gradient.abs().max()) for gradient in expected.values())
    assert largest > 0.1
    for key, parameter in ours.module.named_parameters():
        # Biases before a normalisation have only rounding errors as gradients.
        wrong = float((parameter.grad - expected[key]).abs().max())
        allowed = 1e-5 * float(expected[key].abs().max()) + 1e-9 * largest
        assert wrong <= allowed, f"{key}: {wrong:.2g} > {allowed:.2g}"
