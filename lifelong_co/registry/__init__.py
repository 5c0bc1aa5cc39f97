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
    changed_options,
    distribution,
    divergence,
    knows_all_tasks,
    logger,
    method,
    method_options,
    objective,
    objective_options,
    problem,
    solver,
    testset,
    weighting,
)
from lifelong_co.registry.plugins import (
    components,
    failures,
    name_clashes,
    names,
    register_plugin,
    reload,
)

__all__ = [
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
    "method_options",
    "name_clashes",
    "names",
    "objective",
    "objective_options",
    "order",
    "orders",
    "problem",
    "reference_model",
    "register_plugin",
    "reload",
    "sampler",
    "solver",
    "testset",
    "weighting",
]
