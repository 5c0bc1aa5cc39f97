"""Restart: learn each task from the initial parameters (paper §4)."""

from lifelong_co.protocols import LearnerState, Method


def restart() -> Method:
    """Return the method that starts every task from the initial parameters."""
    return Method(restarts=True, before_task=reset_parameters)


def reset_parameters(learner: LearnerState) -> None:
    """Give the solver the parameters that it had before the first task."""
    learner.solver.module.load_state_dict(learner.initial)
