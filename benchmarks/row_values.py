"""The values of a row of a study, by order and seed: metrics, and time beside fine-tuning."""

from collections.abc import Mapping

from lifelong_co import metrics
from lifelong_co.experiments.sweep.plan import Block, Row
from lifelong_co.experiments.sweep.table import Results, compared

At = tuple[str, int]
"""The order and the seed of a run."""


def measured(found: Results, row: Row) -> dict[At, metrics.Metrics]:
    """Return the metrics of the finished runs; `d*` is that of all runs of the study."""
    of_solver = found.comparisons
    done = found.finished(row)
    return {at: of_solver[compared(run.config)].metrics(run) for at, run in done.items()}


def row_of(block: Block, label: str) -> Row:
    """Return the only row of this name."""
    (row,) = (row for row in block.rows if row.label == label)
    return row


def times(found: Results, block: Block, row: Row) -> Mapping[At, float]:
    """Return the time of all training steps, in multiples of the row `fine-tuning`."""
    own, base = (
        {at: run.seconds for at, run in found.finished(each).items() if run.seconds}
        for each in (row, row_of(block, "fine-tuning"))
    )
    return {at: own[at] / base[at] for at in own if at in base}
