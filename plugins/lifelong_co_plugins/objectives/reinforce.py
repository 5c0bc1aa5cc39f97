"""REINFORCE: the solver's own objective, and one with normalised advantages."""

from typing import Any

from torch import Tensor

from lifelong_co.errors import ComponentError
from lifelong_co.protocols import Objective, Rollout, Solver
from lifelong_co.validators import above_zero
from lifelong_co_plugins.objectives.checks import require_several


def reinforce(solver: Solver) -> Objective:
    """Return the solver's own objective: a shared baseline (POMO, Omni) or a greedy one (INViT).

    Raises
    ------
    ComponentError
        If the solver returns something else; the message names its class.
    """
    found: object = solver.objective()
    if not isinstance(found, Objective):
        raise ComponentError(
            f"solver {type(solver).__name__}, objective(): expected an Objective, got"
            f" {type(found).__name__}"
        )
    return found


def reinforce_normalised(solver: Solver, epsilon: float = 1e-4) -> Objective:  # noqa: ARG001
    """Return REINFORCE with POMO's shared baseline and normalised advantages.

    ``L = mean of (c_i - mean c) / (std c + epsilon) * log pi_i``. Mean and standard deviation (the
    population's) are over the ``S`` trajectories of an instance. So every instance counts alike,
    whatever its size and the spread of its costs (Shao et al. 2024, DeepSeekMath, §4.1.2: the
    advantage of GRPO with outcome supervision).

    Parameters
    ----------
    epsilon
        Above 0, in the unit of the cost. It must be above rounding errors: equal solutions that
        are summed in another order differ by about 1e-6, and must not become advantages of 1.

    Raises
    ------
    ConfigError
        If ``epsilon`` is out of its range, or in a run if a solver has one trajectory.
    """
    above_zero("objective 'reinforce-normalised'", {"epsilon": epsilon})

    def loss(instances: Any, rollout: Rollout) -> Tensor:  # noqa: ARG001
        require_several("reinforce-normalised", rollout)
        return (normalised(rollout.cost, epsilon) * rollout.log_likelihood).mean()

    return Objective(loss=loss)


def normalised(cost: Tensor, epsilon: float) -> Tensor:
    """Return the advantages ``[B, S]`` of costs ``[B, S]``; if all costs are equal, they are 0."""
    # Differences from the first cost are exactly 0 if all are equal; those from a mean are not.
    apart = cost - cost[:, :1]
    advantage = apart - apart.mean(dim=1, keepdim=True)
    deviation = advantage.square().mean(dim=1, keepdim=True).sqrt()
    return advantage / (deviation + epsilon)
