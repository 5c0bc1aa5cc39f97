"""Checks of solutions that are scored: complete, feasible, and of finite cost.

A network with NaN parameters takes infeasible actions, and their cost can be far below the optimum.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from lifelong_co.errors import ComponentError, InvalidRolloutError
from lifelong_co.protocols import Problem, Rollout, Solver

WRONG_COST = 1e-3
"""A relative difference of two costs that rounding in float32 does not explain."""


@torch.no_grad()
def best_of(problem: Problem, instances: Any, rollout: Rollout) -> tuple[Tensor, Tensor]:
    """Return the cost ``[B]`` of each instance's best trajectory, and bool ``[B]``: if it is valid.

    It is valid if all costs of the instance are finite, no log-likelihood is NaN, and the best
    trajectory is complete and feasible and has the cost that it is said to have. Only this one is
    replayed: it is scored, and it takes ``1 / S`` of the work. The cost of a valid one is counted
    by the problem: a solver may have rounded it.
    """
    B, S, T = rollout.actions.shape
    cost, index = rollout.cost.min(dim=1)
    actions = rollout.actions.gather(1, index[:, None, None].expand(B, 1, T))
    forced = [first.gather(1, index[:, None]) for first in problem.starts(instances, S)]
    valid = complete(problem, instances, actions, forced).squeeze(1)
    last = problem.feasible(instances, problem.reset(instances, 1)).shape[2] - 1
    counted = problem.cost(instances, actions.clamp(0, last)).squeeze(1)
    valid &= (cost - counted).abs() <= WRONG_COST * counted.abs()
    valid &= has_numbers(rollout).all(dim=1)
    return counted.where(valid, cost), valid


@torch.no_grad()
def all_valid(problem: Problem, instances: Any, rollout: Rollout) -> Tensor:
    """Return bool ``[B]``: whether all trajectories of an instance are valid; see `best_of`."""
    forced = problem.starts(instances, rollout.actions.shape[1])
    valid = complete(problem, instances, rollout.actions, forced) & has_numbers(rollout)
    return valid.all(dim=1)


def has_numbers(rollout: Rollout) -> Tensor:
    """Return bool ``[B, S]``: whether the cost is finite and the log-likelihood is not NaN.

    A network with NaN parameters may give feasible solutions, if only its scores are NaN.
    """
    return rollout.cost.isfinite() & ~rollout.log_likelihood.isnan()


@torch.no_grad()
def complete(
    problem: Problem, instances: Any, actions: Tensor, forced: Sequence[Tensor] = ()
) -> Tensor:
    """Return bool ``[B, S]``: whether ``actions`` long ``[B, S, T]`` solve the instances.

    Parameters
    ----------
    forced
        First actions, each long ``[B, S]``; see `may_be_forced`.
    """
    state = problem.reset(instances, actions.shape[1])
    feasible = problem.feasible(instances, state)
    last = feasible.shape[2] - 1
    taken = actions.clamp(0, last)  # for the replay; any other action is refused
    valid = (actions == taken).all(dim=2)
    for t, action in enumerate(taken.unbind(dim=2)):
        if t:
            feasible = problem.feasible(instances, state)
        allowed = feasible.gather(2, action[..., None]).squeeze(2)
        if t < len(forced):
            allowed = allowed | ((action == forced[t]) & may_be_forced(feasible, state, action))
        valid &= allowed
        state = problem.step(instances, state, action)
    return valid & problem.done(instances, state)


def may_be_forced(feasible: Tensor, state: Any, action: Tensor) -> Tensor:
    """Return bool ``[B, S]``: whether a forced first action is feasible, or the present node.

    To stay may be infeasible otherwise: the CVRP starts at the depot, and its first forced action
    is a visit to it.

    Parameters
    ----------
    feasible
        The mask of the state, bool ``[B, S, A]``.
    action
        Long ``[B, S]``, from 0 to ``A - 1``.
    """
    stays: Tensor = action == state.current
    return stays | feasible.gather(2, action[..., None]).squeeze(2)


@torch.no_grad()
def fault(problem: Problem, instances: Any, actions: Sequence[int]) -> str:
    """Return why ``actions [T]`` do not solve one instance (``B = 1``); empty if they do.

    Only the problem itself decides: each action must be feasible in its state, and the last state
    must be done; see `may_be_forced` for the first action of a rollout.
    """
    state = problem.reset(instances, 1)
    nodes = problem.unfinished(state)[0, 0]
    last = nodes.shape[0] - 1
    forced = [int(action[0, 0]) for action in problem.starts(instances, 1)[:1]]
    for t, action in enumerate(actions):
        if not 0 <= action <= last:
            return f"expected nodes 0 to {last}, got {action}"
        feasible, taken = problem.feasible(instances, state), torch.tensor([[action]])
        kept = forced[t : t + 1] == [action] and bool(may_be_forced(feasible, state, taken))
        if not kept and not feasible[0, 0, action]:
            if nodes[action] and action in actions[:t]:
                return f"visits node {action} {list(actions).count(action)} times"
            return f"visits node {action} in step {t + 1}, where it is not feasible"
        state = problem.step(instances, state, taken)
    if problem.done(instances, state)[0, 0]:
        return ""
    left = problem.unfinished(state)[0, 0].nonzero()
    missing = f" (node {int(left[0])} is not visited)" if len(left) else ""
    return f"ends before it is complete{missing}"


@torch.no_grad()
def require_starts(problem: Problem, instances: Any, forced: Sequence[Tensor]) -> None:
    """Refuse a problem whose forced first actions ``[B, S]`` are infeasible and leave their node.

    Raises
    ------
    ComponentError
        If there is one; the message names it.
    """
    if not forced:
        return
    state = problem.reset(instances, forced[0].shape[1])
    for t, action in enumerate(forced):
        wrong = ~may_be_forced(problem.feasible(instances, state), state, action)
        if bool(wrong.any()):
            raise ComponentError(
                f"problem {problem.name!r}: starts[{t}]: expected a feasible action or the present"
                f" node, got node {int(action[wrong][0])} (lifelong_co.testing.check_problem says"
                " more)"
            )
        state = problem.step(instances, state, action)


def require_valid(solver: Solver, costs: Tensor, valid: Tensor) -> None:
    """Refuse solutions that must not be scored; waits for the device.

    Parameters
    ----------
    costs, valid
        Of each instance, ``[N]``; see `best_of`.

    Raises
    ------
    InvalidRolloutError
        If an instance has no valid solution; the message names the solver and the first one.
    """
    if bool(valid.all()):
        return
    number = int((~valid).nonzero()[0])
    finite = all(bool(each.isfinite().all()) for each in solver.module.parameters())
    reason = "its parameters are finite: check it with lifelong_co.testing.check_solver"
    if not finite:
        reason = "its parameters are not finite"
    raise InvalidRolloutError(
        f"{type(solver).__name__}, instance {number + 1} of {len(valid)}: expected a complete and"
        " feasible solution of finite cost, as the problem counts it, got an invalid one (cost"
        f" {float(costs[number]):g}); {reason}"
    )
