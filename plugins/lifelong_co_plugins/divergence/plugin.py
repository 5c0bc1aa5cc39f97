"""Registers the divergences."""

from lifelong_co.hookspecs import Register, hookimpl
from lifelong_co_plugins.divergence.alternatives import js, mixture, squared
from lifelong_co_plugins.divergence.kullback_leibler import kl, rkl


@hookimpl
def register_divergences(register: Register) -> None:
    """Register ``kl rkl mixture js squared``."""
    register("kl", kl)
    register("rkl", rkl)
    register("mixture", mixture)
    register("js", js)
    register("squared", squared)
