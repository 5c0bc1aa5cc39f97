"""Checks of the log-probabilities in states of random solutions, all in evaluation mode."""

from typing import Any

import torch
from torch import Tensor

from lifelong_co.protocols import Solver
from lifelong_co.tensors import records
from lifelong_co.testing.contract import (
    expect,
    expect_close,
    expect_everywhere,
    expect_probs,
    expect_shape,
)
from lifelong_co.testing.samples import at_least_two, mode, observed_rollout, states


@torch.no_grad()
def check_shapes(solver: Solver, instances: Any, *, seed: int = 0) -> None:
    """Check that `log_probs` are floats ``[B, S, A]``, also for one instance and one trajectory.

    Raises
    ------
    ContractError
        If the check fails. All checks raise this error.
    """
    problem = solver.problem
    one = records.select(instances, slice(0, 1))
    with mode(solver.module, training=False):
        for batch, S in ((instances, problem.size(instances)), (instances, 1), (one, 1)):
            state = states(problem, batch, S, seed)[0]
            shape = tuple(problem.feasible(batch, state).shape)
            log_probs = solver.log_probs(solver.encode(batch), state)
            expect_shape("check_shapes", "log_probs", log_probs, shape)
            expect(
                log_probs.is_floating_point(),
                "check_shapes",
                "log_probs of a floating dtype",
                log_probs.dtype,
            )


@torch.no_grad()
def check_probabilities(solver: Solver, instances: Any, *, seed: int = 0) -> None:
    """Check that probabilities sum to 1, within 1e-5 in float32 and 1e-10 in float64."""
    for state, log_probs in answers(solver, instances, seed):
        total = log_probs.exp().sum(dim=2)
        # A problem may have no feasible action for a finished trajectory.
        idle = ~solver.problem.feasible(instances, state).any(dim=2)
        expect_close(
            "check_probabilities",
            "probabilities [B, S] that sum to 1",
            total.masked_fill(idle, 1.0),
            torch.ones_like(total),
        )


@torch.no_grad()
def check_feasibility(solver: Solver, instances: Any, *, seed: int = 0) -> None:
    """Check that infeasible actions get exactly -inf, and a feasible action more than -inf.

    Some feasible actions may get -inf, as with a solver that considers only near nodes.
    """
    for state, log_probs in answers(solver, instances, seed):
        feasible = solver.problem.feasible(instances, state)
        expect_everywhere(
            "check_feasibility",
            "-inf for every infeasible action [B, S, A]",
            feasible | log_probs.isneginf(),
            log_probs,
        )
        chance = (log_probs > -torch.inf).any(dim=2)
        expect_everywhere(
            "check_feasibility",
            "a feasible action with positive probability in every state [B, S] that is not done",
            chance | solver.problem.done(instances, state),
            log_probs.amax(dim=2),
        )


@torch.no_grad()
def check_permutation(solver: Solver, instances: Any, *, seed: int = 0) -> None:
    """Check that permuting the instances, or the trajectories, permutes the probabilities."""
    device = records.device(instances)
    order = torch.arange(at_least_two(instances), device=device).roll(1)
    permuted = records.select(instances, order)
    S = solver.problem.size(instances)
    turn = torch.arange(S, device=device).roll(1)
    found = answers(solver, instances, seed)
    with mode(solver.module, training=False):
        encoding = solver.encode(instances)
        for state, log_probs in found:
            expect_probs(
                "check_permutation",
                "the same probs [B, S, A] after permuting the trajectories",
                solver.log_probs(
                    encoding, records.transform(state, lambda tensor: tensor[:, turn])
                ),
                log_probs.exp()[:, turn],
            )
        encoding = solver.encode(permuted)
        for state, log_probs in found:
            expect_probs(
                "check_permutation",
                "the same probs [B, S, A] after permuting the instances",
                solver.log_probs(encoding, records.select(state, order)),
                log_probs.exp()[order],
            )


@torch.no_grad()
def check_state_only(solver: Solver, instances: Any, *, seed: int = 0) -> None:
    """Check that log-probabilities depend only on the encoding and the state.

    They must be the same when computed a second time: with the states in reverse order, after
    another batch was encoded, and with a second encoding of the instances.
    """
    problem = solver.problem
    visited = states(problem, instances, problem.size(instances), seed)
    B = records.rows(instances)
    backwards = torch.arange(2 * B - 1, B - 1, -1, device=records.device(instances))
    other = records.select(problem.augment(instances), backwards)
    with mode(solver.module, training=False):
        encoding = solver.encode(instances)
        first = [solver.log_probs(encoding, state).exp() for state in visited]

        def compare(what: str, encoding: Any) -> None:
            for state, probs in reversed(list(zip(visited, first, strict=True))):
                again = solver.log_probs(encoding, state)
                expect_probs("check_state_only", f"the same probs [B, S, A] {what}", again, probs)

        compare("in the reverse order of states", encoding)
        solver.log_probs(solver.encode(other), visited[0])
        compare("after another batch was encoded", encoding)
        compare("with a second encoding of the instances", solver.encode(instances))


@torch.no_grad()
def check_rows(solver: Solver, instances: Any, *, seed: int = 0) -> None:
    """Check that a part of a recorded batch, replayed alone, gives the same behavior.

    This holds in evaluation mode only, because batch normalisation mixes the instances of a batch
    in training mode. A network that mixes them in both modes is exempt: see ``rows`` of
    `check_solver`.
    """
    rows = torch.arange(at_least_two(instances) - 1, 0, -1, device=records.device(instances))
    part = records.select(instances, rows)
    with mode(solver.module, training=False):
        _, steps = observed_rollout(solver, instances, "sample", seed)
        encoding = solver.encode(part)
        for step in steps:
            replayed = solver.log_probs(encoding, step.unit.state(rows))
            what = "the same probs [B, S, A] of a part of the batch"
            expect_probs("check_rows", what, replayed, step.log_probs[rows].exp())
            behavior = step.unit.log_probs(rows).exp()
            expect_probs("check_rows", f"{what}, packed", replayed, behavior, packed=True)


def answers(solver: Solver, instances: Any, seed: int) -> list[tuple[Any, Tensor]]:
    """Return the states of a random solution, each with a copy of its log-probabilities."""
    visited = states(solver.problem, instances, solver.problem.size(instances), seed)
    with mode(solver.module, training=False):
        encoding = solver.encode(instances)
        return [(state, solver.log_probs(encoding, state).clone()) for state in visited]
