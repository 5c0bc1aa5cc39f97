"""What runs are measured against."""

from collections.abc import Mapping, Sequence

from lifelong_co import metrics, registry
from lifelong_co.experiments.comparison.runs import Run


def least_costs(runs: Sequence[Run]) -> dict[str, float]:
    """Return ``d*`` by task: the least cost of lifelong learning on it (paper §4).

    What learned all tasks at once counts only where nothing else is compared.
    """
    lifelong = [run for run in runs if not registry.knows_all_tasks(run.config.method)]
    return metrics.best_by_task((run.names, run.costs) for run in lifelong or runs)


def measured(run: Run, best: Mapping[str, float], k: int | None = None) -> metrics.Metrics:
    """Return the metrics of a run after its first ``k`` tasks, or all; `metrics.meaningful`."""
    costs = [row[:k] for row in run.costs[:k]]
    found = metrics.summarize(costs, [best[name] for name in run.names[:k]])
    return metrics.meaningful(found, knows_all_tasks=registry.knows_all_tasks(run.config.method))
