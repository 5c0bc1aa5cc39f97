"""Registers the paper's six distributions."""

from functools import partial

from lifelong_co.hookspecs import Register, hookimpl
from lifelong_co_plugins.distributions.distribution import make_distribution
from lifelong_co_plugins.distributions.samplers import SAMPLERS


@hookimpl
def register_distributions(register: Register) -> None:
    """Register ``U GM E C G R``."""
    for name in SAMPLERS:
        register(name, partial(make_distribution, name))
