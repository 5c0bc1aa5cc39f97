"""Registers the buffers."""

from lifelong_co.hookspecs import Register, hookimpl
from lifelong_co.replay.class_balanced import Balanced
from lifelong_co.replay.reservoir import Reservoir


@hookimpl
def register_buffers(register: Register) -> None:
    """Register ``reservoir`` and ``balanced``."""
    register("reservoir", Reservoir)
    register("balanced", Balanced)
