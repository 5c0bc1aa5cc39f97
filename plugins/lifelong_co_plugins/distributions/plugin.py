"""Registers the paper's six distributions."""

from collections.abc import Callable
from functools import partial
from typing import Any

from lifelong_co.hookspecs import hookimpl

from lifelong_co_plugins.distributions.distribution import make_distribution
from lifelong_co_plugins.distributions.samplers import SAMPLERS


@hookimpl
def register_distributions(register: Callable[[str, Callable[..., Any]], None]) -> None:
    """Register ``U GM E C G R``."""
    for name in SAMPLERS:
        register(name, partial(make_distribution, name))
