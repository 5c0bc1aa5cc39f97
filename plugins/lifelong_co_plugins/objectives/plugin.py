"""Registers the objectives."""

from lifelong_co.hookspecs import Register, hookimpl
from lifelong_co_plugins.objectives.best_of import best_of
from lifelong_co_plugins.objectives.preference import preference
from lifelong_co_plugins.objectives.reinforce import reinforce, reinforce_normalised


@hookimpl
def register_objectives(register: Register) -> None:
    """Register ``reinforce reinforce-normalised preference best-of``."""
    register("reinforce", reinforce)
    register("reinforce-normalised", reinforce_normalised)
    register("preference", preference)
    register("best-of", best_of)
