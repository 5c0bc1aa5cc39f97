"""Restart: learn each task from the initial parameters (paper §4)."""

from lifelong_co.protocols import LearnerState, Method


def restart() -> Method:
    """Return the method that resets the parameters before every task."""
    return Method(restarts=True, before_task=reset_parameters)


def reset_parameters(learner: LearnerState) -> None:
    """Reset the solver's parameters to those before the first task."""
    learner.solver.module.load_state_dict(learner.initial)
