"""Registers the official codebases; their code is needed only when a solver is built."""

from lifelong_co.hookspecs import Register, hookimpl
from lifelong_co_adapters.official.invit import official_invit
from lifelong_co_adapters.official.omni import official_omni
from lifelong_co_adapters.official.pomo import official_pomo


@hookimpl
def register_solvers(register: Register) -> None:
    """Register ``official-pomo``, ``official-omni`` and ``official-invit``."""
    register("official-pomo", official_pomo)
    register("official-omni", official_omni)
    register("official-invit", official_invit)
