"""The suite of all checks."""

from collections.abc import Callable
from typing import Any

import torch

from lifelong_co.protocols import Solver
from lifelong_co.tensors import records
from lifelong_co.testing.behavior import (
    check_feasibility,
    check_permutation,
    check_probabilities,
    check_rows,
    check_shapes,
    check_state_only,
)
from lifelong_co.testing.contract import expect, expect_members
from lifelong_co.testing.gradients import check_consolidation_gradient, check_policy_gradient
from lifelong_co.testing.joined import check_joined
from lifelong_co.testing.memory import check_replay, check_round_trip
from lifelong_co.testing.module_state import check_buffers, check_parameters, check_restored
from lifelong_co.testing.objective import check_objective
from lifelong_co.testing.samples import draw_instances
from lifelong_co.testing.sampling import check_sampling, check_seed
from lifelong_co.testing.solutions import check_rollout

# Basic checks come first, so that the first check that fails names the cause.
CHECKS: tuple[Callable[..., None], ...] = (
    check_shapes,
    check_feasibility,
    check_probabilities,
    check_state_only,
    check_permutation,
    check_rollout,
    check_seed,
    check_sampling,
    check_replay,
    check_rows,
    check_joined,
    check_parameters,
    check_buffers,
    check_round_trip,
    check_policy_gradient,
    check_consolidation_gradient,
)

BETWEEN_ROWS = (check_rows, check_joined)
"""Checks of networks that do not mix the instances of a batch in evaluation mode."""


def check_solver(
    solver: Solver,
    *,
    instances: Any = None,
    size: int = 10,
    batch: int = 3,
    seed: int = 0,
    rows: bool = True,
    factory: Callable[[], Solver] | None = None,
) -> None:
    """Run all checks of a solver, and `check_objective` of its own loss. They do not change it.

    Parameters
    ----------
    solver
        A solver of any problem. With a small network all checks take less than a second.
    instances
        A batch of at least two instances, with the module's dtype and device. None: drawn from the
        distribution ``U``, which has instances of the TSP and the CVRP.
    size, batch
        ``n`` and ``B`` of the drawn instances.
    seed
        Seed of instances, states and actions.
    rows
        False leaves out `check_rows` and `check_joined`. This is for a network that normalises
        over the batch in evaluation mode as well, so that the behavior on an instance depends on
        the others. A network that does so only in training mode needs no exemption.
    factory
        Builds a second solver with the same options, for `check_restored`.

    Raises
    ------
    ContractError
        If a check fails; the error comes from the first one that fails.
    ConfigError
        If no instances can be drawn, or there are fewer than two.
    """
    check_members(solver)
    if instances is None:
        instances = draw_instances(solver, size, batch, seed)
    names = set(solver.module.state_dict())
    before = records.tensors(records.transform(instances, torch.clone))
    for check in CHECKS:
        if rows or check not in BETWEEN_ROWS:
            check(solver, instances, seed=seed)
            for name, tensor in records.tensors(instances).items():
                what = f"a solver that does not change the instances' {name}"
                same = records.same(tensor, before[name])
                expect(same, "check_solver", what, f"other values after {check.__name__}")
    changed = ", ".join(sorted(names ^ set(solver.module.state_dict())))
    what = "a module that keeps the names of its parameters and buffers"
    expect(not changed, "check_solver", what, f"a change of {changed}")
    check_objective(lambda of: of.objective(), solver, instances=instances, seed=seed)
    if factory is not None:
        check_restored(solver, factory(), instances, seed=seed)


def check_members(solver: Solver) -> None:
    """Check that the solver has every member of `protocols.Solver`."""
    expect_members("check_members", solver, Solver)
