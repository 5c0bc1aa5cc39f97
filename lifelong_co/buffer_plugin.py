"""Registers the buffers."""

from lifelong_co.balanced_buffer import Balanced
from lifelong_co.buffer import Reservoir
from lifelong_co.hookspecs import Register, hookimpl


@hookimpl
def register_buffers(register: Register) -> None:
    """Register ``reservoir`` and ``balanced``."""
    register("reservoir", Reservoir)
    register("balanced", Balanced)
