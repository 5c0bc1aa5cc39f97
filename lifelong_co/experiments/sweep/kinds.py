"""Kinds of training steps: those of one kind take the same time."""

import json
import statistics
from collections.abc import Mapping

import attrs

from lifelong_co.config.run_config import Config
from lifelong_co.experiments.sweep.sameness import spelled_out
from lifelong_co.tasks.task import Task

# What a method replays may be most of its work, and what it is for the solver is its model.
SETTINGS = (
    "solver_options",
    "method_options",
    "device",
    "precision",
    "one_pass",
    "images",
    "augment",
)


@attrs.frozen
class Kind:
    """What the time of a step depends on, first what it depends on most."""

    problem: str
    solver: str
    method: str
    size: int
    batch_size: int
    settings: str
    """All else in the configuration that it depends on, `SETTINGS`, as JSON."""


def kind(config: Config, task: Task) -> Kind:
    """Return the kind of steps of a task of a run."""
    settings = {name: getattr(spelled_out(config), name) for name in SETTINGS}
    return Kind(
        config.problem,
        config.solver,
        config.method,
        task.size,
        task.batch_size,
        json.dumps(settings, sort_keys=True, default=str),
    )


def time_of(known: Mapping[Kind, float], wanted: Kind) -> float:
    """Return the time of a kind, else the mean of the kinds most alike; 0 if nothing is known.

    Of two kinds that which agrees in the first field in which they differ about it is more alike.
    """
    if wanted in known or not known:
        return known.get(wanted, 0.0)
    likeness = {
        each: [a == b for a, b in zip(attrs.astuple(each), attrs.astuple(wanted), strict=True)]
        for each in known
    }
    most = max(likeness.values())
    return statistics.fmean(known[each] for each in known if likeness[each] == most)
