"""Registers Omni."""

from lifelong_co.hookspecs import Register, hookimpl
from lifelong_co_adapters.omni.solver import omni


@hookimpl
def register_solvers(register: Register) -> None:
    """Register ``omni``."""
    register("omni", omni)
