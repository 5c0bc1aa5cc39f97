"""What runs are measured against, and which metrics of a run mean something."""

import math
from collections.abc import Mapping, Sequence

import attrs

from lifelong_co import metrics
from lifelong_co.report.runs import Run

AT_ONCE = ("multi-task-epoch", "multi-task-batch")
"""Methods that learn all tasks at once: references, and no lifelong learning."""


def least_costs(runs: Sequence[Run]) -> dict[str, float]:
    """Return ``d*`` by task: the least cost of lifelong learning on it (paper §4).

    What learned all tasks at once counts only where nothing else is compared.
    """
    lifelong = [run for run in runs if run.config.method not in AT_ONCE]
    return metrics.best_by_task((run.names, run.costs) for run in lifelong or runs)


def measured(run: Run, best: Mapping[str, float], k: int | None = None) -> metrics.Metrics:
    """Return the metrics of a run after its first ``k`` tasks, or all.

    Of what learned all tasks at once only AP has a meaning: no task came before another.
    """
    names = run.names[:k]
    found = metrics.summarize([row[:k] for row in run.costs[:k]], [best[name] for name in names])
    if run.config.method not in AT_ONCE:
        return found
    return attrs.evolve(found, AF=math.nan, AMF=math.nan, APl=math.nan, AG=math.nan)
