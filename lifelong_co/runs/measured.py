"""The measured costs of a run by rows, which can have holes, and the metrics made of them.

Row ``i`` maps task ``j`` to ``d[i][j]``, its mean cost after learning the first ``i + 1`` tasks, if
that was measured (`Config.tests_after`). Tasks are counted from 0.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lifelong_co import metrics, registry
from lifelong_co.config.run_config import Config
from lifelong_co.config.settings import ALL
from lifelong_co.metrics import Metrics, Split
from lifelong_co.runs.costs import Cost, due


def cost_rows(costs: Iterable[Cost], config: Config) -> list[dict[int, float]]:
    """Return the rows of the tasks after which every test that was due is there."""
    rows: dict[int, dict[int, float]] = {}
    for cost in costs:
        if cost.epoch == config.tasks[cost.learning - 1].epochs:
            rows.setdefault(cost.learning - 1, {})[cost.tested - 1] = cost.cost
    return [
        {j: rows[i][j] for j in due(config, i)}  # a former last task was tested on more
        for i in sorted(rows)
        if rows[i].keys() >= set(due(config, i))
    ]


def content(rows: Sequence[Mapping[int, float]], config: Config) -> dict[str, Any]:
    """Return the content of ``metrics.json``; the metrics are over the tasks learned so far.

    Here ``d*`` is the lowest cost of this run; `compare` uses the lowest cost of all compared runs.

    With ``tests_after = "next"`` it has ``tests`` instead of the cost matrix: the triples
    ``[learned, tested, cost]`` that were measured, with tasks counted from 1. ``best`` is null for
    a task without a test. A metric is null, and named in ``not_measured``, if it needs a cost that
    was not measured.
    """
    once = registry.knows_all_tasks(config.method, config.method_options)
    values = metrics.json_values(metrics.meaningful(summarize(rows), knows_all_tasks=once))
    lowest = least(rows)
    best = [lowest.get(j) for j in range(len(config.tasks))]
    tasks = [task.label for task in config.tasks]
    if config.tests_after == ALL:
        matrix = [[*row.values()] for row in rows]
        return {"tasks": tasks, "costs": matrix, "best": best, "metrics": values}
    needed = metrics.NAMES if len(rows) > 1 and not once else ("AP",) if len(rows) > 1 else ()
    return {
        "tasks": tasks,
        "tests_after": config.tests_after,
        "tests": [[i + 1, j + 1, row[j]] for i, row in enumerate(rows) for j in sorted(row)],
        "best": best,
        "metrics": values,
        "not_measured": [name for name in needed if values[name] is None],
    }


def summarize(
    rows: Sequence[Mapping[int, float]],
    best: Sequence[float] | None = None,
    *,
    definition: str = "text",
) -> Metrics:
    """Compute the metrics of a run, also if it was not tested on every task after each task.

    A metric that needs a cost that was not measured is ``nan``. Time and memory grow with the
    number of measured costs, not with ``k * k``.

    Parameters
    ----------
    rows
        ``k`` mappings, ``k >= 1``. ``rows[i][j]`` is the mean cost on task ``j`` after learning the
        first ``i + 1`` tasks; ``rows[j][j]`` is always there, and columns from ``k`` on do not
        count.
    best
        ``d*``: ``[k]``, finite and positive. None: the lowest measured cost on each task.
    definition
        As in `metrics.summarize`.

    Raises
    ------
    UnknownNameError
        If there is no such definition.
    """
    k = len(rows)
    lowest = least(rows)
    reference = [lowest[j] for j in range(k)] if best is None else best
    alone = k == 1 and best is None  # nothing to be compared with

    def gap(i: int, j: int) -> float:
        found = math.nan if alone else rows[i].get(j, math.nan)
        return (found - reference[j]) / reference[j]

    return metrics.of_gaps(gap, k, definition)


def split(rows: Sequence[Mapping[int, float]], best: Sequence[float]) -> Split:
    """Return `metrics.split`, which needs only the diagonal and the last row.

    ``best`` is ``d*``: ``[k]``, finite and positive.
    """
    learned = [(row[j] - best[j]) / best[j] for j, row in enumerate(rows)]
    final = [(rows[-1][j] - best[j]) / best[j] for j in range(len(rows))]
    return metrics.split_gaps(learned, final)


def least(rows: Iterable[Mapping[int, float]]) -> dict[int, float]:
    """Return the lowest measured cost on each task, by the keys of the rows."""
    found: dict[int, float] = {}
    for row in rows:
        for j, cost in row.items():
            found[j] = min(cost, found.get(j, math.inf))
    return found
