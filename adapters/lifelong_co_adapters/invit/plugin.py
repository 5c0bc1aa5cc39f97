"""Registers INViT."""

from lifelong_co.hookspecs import Register, hookimpl
from lifelong_co_adapters.invit.solver import invit


@hookimpl
def register_solvers(register: Register) -> None:
    """Register ``invit``."""
    register("invit", invit)
