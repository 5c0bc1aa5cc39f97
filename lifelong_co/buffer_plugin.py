"""Registers the buffer."""

from lifelong_co.buffer import Reservoir
from lifelong_co.hookspecs import Register, hookimpl


@hookimpl
def register_buffers(register: Register) -> None:
    """Register ``reservoir``."""
    register("reservoir", Reservoir)
