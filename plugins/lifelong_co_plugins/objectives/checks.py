"""Checks that objectives share."""

from lifelong_co.errors import ConfigError
from lifelong_co.protocols import Rollout


def require_several(objective: str, rollout: Rollout) -> None:
    """Refuse a rollout with one trajectory for each instance: there is nothing to compare it with.

    The first rollout of a run is refused, so nothing is learned.

    Raises
    ------
    ConfigError
        If ``S = 1``; the message names the objective.
    """
    S = rollout.cost.shape[1]
    if S < 2:
        raise ConfigError(
            f"objective {objective!r}: expected a solver with at least 2 trajectories for each"
            f" instance, got {S}; choose the objective 'reinforce'"
        )
