"""Everything by its registered name."""

from lifelong_co.registry.lookup import (
    buffer,
    components,
    distribution,
    divergence,
    failures,
    knows_all_tasks,
    method,
    method_options,
    name_clashes,
    names,
    problem,
    register_plugin,
    reload,
    solver,
    testset,
    weighting,
)

__all__ = [
    "buffer",
    "components",
    "distribution",
    "divergence",
    "failures",
    "knows_all_tasks",
    "method",
    "method_options",
    "name_clashes",
    "names",
    "problem",
    "register_plugin",
    "reload",
    "solver",
    "testset",
    "weighting",
]
