"""Registers the methods."""

from lifelong_co.hookspecs import Register, hookimpl
from lifelong_co_plugins.methods.fine_tuning import fine_tuning
from lifelong_co_plugins.methods.llr_bc import llr_bc
from lifelong_co_plugins.methods.restart import restart


@hookimpl
def register_methods(register: Register) -> None:
    """Register ``llr-bc fine-tuning restart``."""
    register("llr-bc", llr_bc)
    register("fine-tuning", fine_tuning)
    register("restart", restart)
