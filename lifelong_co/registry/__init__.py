"""Solvers, problems, methods and all other components by their registered names."""

from lifelong_co.registry.by_problem import (
    file_format,
    order,
    orders,
    reference_model,
    sampler,
)
from lifelong_co.registry.described import described
from lifelong_co.registry.lookup import (
    buffer,
    distribution,
    divergence,
    knows_all_tasks,
    logger,
    method,
    objective,
    problem,
    solver,
    stored_method,
    testset,
    weighting,
)
from lifelong_co.registry.options import all_options, changed_options
from lifelong_co.registry.plugins import (
    components,
    failures,
    name_clashes,
    names,
    register_plugin,
    reload,
)

__all__ = [
    "all_options",
    "buffer",
    "changed_options",
    "components",
    "described",
    "distribution",
    "divergence",
    "failures",
    "file_format",
    "knows_all_tasks",
    "logger",
    "method",
    "name_clashes",
    "names",
    "objective",
    "order",
    "orders",
    "problem",
    "reference_model",
    "register_plugin",
    "reload",
    "sampler",
    "solver",
    "stored_method",
    "testset",
    "weighting",
]
