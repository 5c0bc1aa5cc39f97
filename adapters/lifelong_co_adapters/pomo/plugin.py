"""Registers POMO."""

from lifelong_co.hookspecs import Register, hookimpl
from lifelong_co_adapters.pomo.solver import pomo


@hookimpl
def register_solvers(register: Register) -> None:
    """Register ``pomo``."""
    register("pomo", pomo)
