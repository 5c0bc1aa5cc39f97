"""Lifelong learning for neural routing solvers."""

from lifelong_co import metrics
from lifelong_co.api.compare import ComparedRuns, compare
from lifelong_co.api.evaluate import evaluate
from lifelong_co.api.learn import learn, resume
from lifelong_co.api.solve import Solved, solve
from lifelong_co.api.stored import StoredRun, load
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
    logger,
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
from lifelong_co.replay.reservoir import Reservoir
from lifelong_co.runs.provenance import __version__
from lifelong_co.tasks.task import Task

__all__ = [
    "CheckpointError",
    "ComparedRuns",
    "ConfigError",
    "FileFormatError",
    "InvalidInstancesError",
    "LifelongError",
    "PluginError",
    "PluginWarning",
    "Reservoir",
    "Solved",
    "StoredRun",
    "Task",
    "UnknownNameError",
    "__version__",
    "buffer",
    "compare",
    "consolidation_loss",
    "distribution",
    "divergence",
    "evaluate",
    "hookimpl",
    "learn",
    "load",
    "logger",
    "method",
    "metrics",
    "objective",
    "problem",
    "register_plugin",
    "resume",
    "solve",
    "solver",
    "testset",
    "weighting",
]
