"""Registers the divergences."""

from lifelong_co.hookspecs import Register, hookimpl
from lifelong_co_plugins.divergence.kullback_leibler import kl, rkl


@hookimpl
def register_divergences(register: Register) -> None:
    """Register ``kl`` and ``rkl``."""
    register("kl", kl)
    register("rkl", rkl)
