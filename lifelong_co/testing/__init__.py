"""Checks that third-party components follow the contracts in `protocols`; for their tests.

There is a check for each kind of component, for example `check_problem`. `check_solver` runs many
checks of a solver, and each of them is also a function. If a component breaks its contract, a check
raises `ContractError`, which names the check, what was expected and what came.
"""

from lifelong_co.testing.behavior import (
    check_feasibility,
    check_permutation,
    check_probabilities,
    check_rows,
    check_shapes,
    check_state_only,
)
from lifelong_co.testing.buffer import check_buffer
from lifelong_co.testing.consolidation import check_divergence, check_weighting
from lifelong_co.testing.contract import ContractError
from lifelong_co.testing.distribution import check_distribution
from lifelong_co.testing.gradients import check_consolidation_gradient, check_policy_gradient
from lifelong_co.testing.joined import check_joined
from lifelong_co.testing.memory import check_replay, check_round_trip
from lifelong_co.testing.method import check_method
from lifelong_co.testing.module_state import check_buffers, check_parameters, check_restored
from lifelong_co.testing.objective import check_objective
from lifelong_co.testing.problem import check_problem
from lifelong_co.testing.samples import draw_instances
from lifelong_co.testing.sampling import check_sampling, check_seed
from lifelong_co.testing.solutions import check_rollout
from lifelong_co.testing.suite import check_members, check_solver

__all__ = [
    "ContractError",
    "check_buffer",
    "check_buffers",
    "check_consolidation_gradient",
    "check_distribution",
    "check_divergence",
    "check_feasibility",
    "check_joined",
    "check_members",
    "check_method",
    "check_objective",
    "check_parameters",
    "check_permutation",
    "check_policy_gradient",
    "check_probabilities",
    "check_problem",
    "check_replay",
    "check_restored",
    "check_rollout",
    "check_round_trip",
    "check_rows",
    "check_sampling",
    "check_seed",
    "check_shapes",
    "check_solver",
    "check_state_only",
    "check_weighting",
    "draw_instances",
]
