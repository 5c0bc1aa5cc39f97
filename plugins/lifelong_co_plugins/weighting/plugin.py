"""Registers the weightings."""

from lifelong_co.hookspecs import Register, hookimpl
from lifelong_co_plugins.weighting.confidence import entropy, top2_margin, uniform, variance


@hookimpl
def register_weightings(register: Register) -> None:
    """Register ``variance entropy top2-margin uniform``."""
    register("variance", variance)
    register("entropy", entropy)
    register("top2-margin", top2_margin)
    register("uniform", uniform)
