"""Checks of the rollout, in evaluation mode."""

from typing import Any

import torch
from torch import Tensor

from lifelong_co.protocols import Decode, Problem, Rollout, Solver
from lifelong_co.tensors import records
from lifelong_co.testing.contract import (
    COARSE,
    TOLERANCE,
    expect,
    expect_close,
    expect_everywhere,
    expect_shape,
)
from lifelong_co.testing.samples import Observed, mode, observed_rollout

CHECK = "check_rollout"
PRECISE = (torch.float32, torch.float64)


@torch.no_grad()
def check_rollout(solver: Solver, instances: Any, *, seed: int = 0) -> None:
    """Check the solutions of a rollout, their costs and their likelihoods.

    - Every action is feasible when it is taken, and with ``decode="greedy"`` it is the likeliest.
    - All trajectories are done at the end.
    - The cost is that of the problem, and the instances are not changed.
    - The log-likelihood is the sum over the steps that an observer sees.
    - Both are in float32 or float64; a cost may have another dtype if the problem's cost has it.
    - A greedy rollout is the same at the second time.

    The steps before the observed ones are forced, at most as many as `Problem.starts` has. They may
    be infeasible: the CVRP starts at the depot, and its first forced action is a visit to the
    depot. The check covers a greedy rollout and a sampled rollout with two trajectories.
    """
    cases: tuple[tuple[Decode, int | None], ...] = (("greedy", None), ("sample", 2))
    before = records.tensors(records.transform(instances, torch.clone))
    with mode(solver.module, training=False):
        for decode, trajectories in cases:
            rollout, steps = observed_rollout(solver, instances, decode, seed, trajectories)
            for name, tensor in records.tensors(instances).items():
                what = f"a rollout that does not change the instances' {name} ({decode})"
                expect_everywhere(CHECK, what, tensor == before[name], tensor)
            S = rollout.actions.shape[1] if trajectories is None else trajectories
            _check_shapes(rollout, (records.rows(instances), S))
            _check_observed(solver.problem, instances, rollout, len(steps))
            _check_actions(solver, instances, rollout, steps, decode)
            cost = solver.problem.cost(instances, rollout.actions)
            _check_dtypes(rollout, cost.dtype)
            _check_equal(f"the problem's cost [B, S] ({decode})", rollout.cost, cost)
            if decode == "greedy":
                again, seen = observed_rollout(solver, instances, decode, seed)
                _check_repeated((rollout.actions, len(steps)), (again.actions, len(seen)))


def _check_shapes(rollout: Rollout, shape: tuple[int, int]) -> None:
    T = rollout.actions.shape[-1]
    expect_shape(CHECK, "actions", rollout.actions, (*shape, T))
    expect(rollout.actions.dtype == torch.long, CHECK, "long actions", rollout.actions.dtype)
    expect_shape(CHECK, "cost", rollout.cost, shape)
    expect_shape(CHECK, "log_likelihood", rollout.log_likelihood, shape)


def _check_dtypes(rollout: Rollout, own: torch.dtype) -> None:
    cost, likelihood = rollout.cost.dtype, rollout.log_likelihood.dtype
    expect(cost in {*PRECISE, own}, CHECK, f"a cost of {own}, as the problem's", cost)
    what = "a log_likelihood of float32 or float64"
    expect(likelihood in PRECISE, CHECK, what, likelihood)


def _check_observed(problem: Problem, instances: Any, rollout: Rollout, seen: int) -> None:
    _, S, T = rollout.actions.shape
    least = max(1, T - len(problem.starts(instances, S)))
    what = f"an observer that gets {least} to {T} steps for T = {T} actions"
    expect(least <= seen <= T, CHECK, what, seen)


def _check_repeated(first: tuple[Tensor, int], again: tuple[Tensor, int]) -> None:
    """Compare the actions of two greedy rollouts, each with its number of observed steps.

    On a GPU only the forced ones are compared: rounding may decide between equally likely actions.
    """
    one, two = (
        actions if actions.device.type == "cpu" else actions[..., : actions.shape[2] - seen]
        for actions, seen in (first, again)
    )
    expect_shape(CHECK, "as many actions at the second time (greedy)", two, tuple(one.shape))
    what = "the same actions [B, S, T] at the second time (greedy)"
    expect_everywhere(CHECK, what, one == two, two)


def _check_equal(what: str, came: Tensor, want: Tensor) -> None:
    """Compare two numbers within the tolerance of the less precise dtype."""
    tolerance = max(TOLERANCE.get(each.dtype, COARSE) for each in (came, want))
    expect_close(CHECK, what, came, want, tolerance)


def _check_actions(
    solver: Solver, instances: Any, rollout: Rollout, steps: list[Observed], decode: Decode
) -> None:
    """Take the actions of a rollout again, one by one, and check each."""
    problem = solver.problem
    T, S = rollout.actions.shape[2], rollout.actions.shape[1]
    state = problem.reset(instances, S)
    likelihood: Tensor | float = 0.0
    for t in range(T):
        action = rollout.actions[..., t]
        if t >= T - len(steps):
            log_probs = steps[t - (T - len(steps))].log_probs
            _check_feasible(
                problem.feasible(instances, state), problem.done(instances, state), action, t
            )
            taken = log_probs.gather(2, action[..., None]).squeeze(2)
            if decode == "greedy":
                short = log_probs.amax(dim=2).exp() - taken.exp()
                expect_everywhere(
                    CHECK,
                    f"the likeliest action [B, S] at step {t} (greedy)",
                    short <= TOLERANCE.get(short.dtype, 1e-2),
                    action,
                )
            likelihood = likelihood + taken
        state = problem.step(instances, state, action)
    done = problem.done(instances, state)
    expect_everywhere(CHECK, f"all trajectories [B, S] done after T = {T} actions", done, done)
    assert isinstance(likelihood, Tensor)  # for the type checker; there is an observed step
    what = f"log_likelihood [B, S], the sum of the log-probs of the actions taken ({decode})"
    _check_equal(what, rollout.log_likelihood, likelihood)


def _check_feasible(feasible: Tensor, done: Tensor, action: Tensor, t: int) -> None:
    A = feasible.shape[2]
    inside = (action >= 0) & (action < A)
    expect_everywhere(CHECK, f"actions [B, S] from 0 to {A - 1} at step {t}", inside, action)
    allowed = feasible.gather(2, action[..., None]).squeeze(2)
    expect_everywhere(CHECK, f"feasible actions [B, S] at step {t}", allowed | done, action)
