"""Lifelong learning for neural routing solvers."""

from lifelong_co import metrics
from lifelong_co.errors import (
    CheckpointError,
    ConfigError,
    FileFormatError,
    InvalidInstancesError,
    LifelongError,
    PluginError,
    UnknownNameError,
)
from lifelong_co.hookspecs import hookimpl
from lifelong_co.registry import (
    buffer,
    distribution,
    divergence,
    method,
    objective,
    problem,
    register_plugin,
    solver,
    testset,
    weighting,
)
from lifelong_co.registry.entry_points import PluginWarning
from lifelong_co.replay.consolidation import consolidation_loss

# Importing this module now lets `buffer`, below, be the function: a first import after that
# would put the module in its place.
from lifelong_co.replay.reservoir import Reservoir

__all__ = [
    "CheckpointError",
    "ConfigError",
    "FileFormatError",
    "InvalidInstancesError",
    "LifelongError",
    "PluginError",
    "PluginWarning",
    "Reservoir",
    "UnknownNameError",
    "buffer",
    "consolidation_loss",
    "distribution",
    "divergence",
    "hookimpl",
    "method",
    "metrics",
    "objective",
    "problem",
    "register_plugin",
    "solver",
    "testset",
    "weighting",
]
