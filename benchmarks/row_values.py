"""The values of a row of a study, by order and seed."""

import re
from collections.abc import Iterable

from lifelong_co import metrics
from lifelong_co.errors import UnknownNameError
from lifelong_co.experiments.comparison.runs import FinishedRun
from lifelong_co.experiments.paired import Seed
from lifelong_co.experiments.sweep.plan import Block, Row
from lifelong_co.experiments.sweep.table import Results, compared

COMMITS = re.compile(r"\(((?:\w{7,}\+? ?)+)\)")

At = tuple[str, Seed]
"""The order and the seed of a run."""


def measured(found: Results, row: Row) -> dict[At, metrics.Metrics]:
    """Return the metrics of the finished runs; `d*` is that of all runs of the study."""
    of_solver = found.comparisons
    done = found.finished(row)
    return {
        (order, run.seed): of_solver[compared(run.config)].metrics(run)
        for (order, _), run in done.items()
    }


def refuse_unknown(names: list[str], known: tuple[str, ...]) -> None:
    """Refuse a metric that no table has; without its column another one would be shown."""
    for name in names:
        if name not in known:
            raise UnknownNameError("metric", name, known)


def row_of(block: Block, label: str) -> Row:
    """Return the only row of this name."""
    (row,) = (row for row in block.rows if row.label == label)
    return row


def made_by(found: Results, rows: Iterable[Row]) -> str:
    """Return the sentence with the commits of the runs of some rows; empty if none is known."""
    return commits(run for row in rows for run in found.finished(row).values())


def commits(runs: Iterable[FinishedRun]) -> str:
    """Return the sentence with the commits of runs; ``+`` after one: the code was changed."""
    makers = (COMMITS.search(maker) for run in runs for maker in run.made_by)
    each = (commit for match in makers if match for commit in match[1].split())
    return in_short({commit[:7] + "+" * commit.endswith("+") for commit in each})


def in_short(commits: set[str]) -> str:
    """Return the sentence with some commits; empty without any."""
    return f"Commit{'s' * (len(commits) > 1)} {', '.join(sorted(commits))}." if commits else ""
