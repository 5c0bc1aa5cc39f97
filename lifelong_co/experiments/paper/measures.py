"""Metrics as cells of a table, and what its caption says of them."""

from collections.abc import Mapping, Sequence

from lifelong_co import metrics
from lifelong_co.experiments.comparison.runs import Run
from lifelong_co.experiments.comparison.tables import SCALE
from lifelong_co.experiments.paper.studies import Study
from lifelong_co.experiments.sheet import THOUSANDTHS, Cell
from lifelong_co.experiments.sweep.spread import Spread, show
from lifelong_co.experiments.sweep.student import LEVEL

UNITS = (
    "In 10⁻³, smaller is better: gaps (d − d*) / d* to d*, the least mean cost that any of these"
    " runs of the same solver and problem, multi-task aside, reached on a task."
)
NO_MEASURE = Cell("-", {THOUSANDTHS: ""})
SPREADS = (
    "mean (s) ± c: mean over orders and seeds; s: standard deviation of the orders' means, where"
    f" there are several; c: half of the {LEVEL:.0%} confidence interval over seeds, where there"
    " are several."
)


def measure(spread: Spread) -> Cell:
    """Return a metric as a cell: as the sweep's table shows it, in CSV number by number."""
    if spread.mean != spread.mean:
        return NO_MEASURE
    parts = {
        THOUSANDTHS: spread.mean,
        f"std_orders_{THOUSANDTHS}": spread.orders,
        f"ci{LEVEL * 100:.0f}_seeds_{THOUSANDTHS}": spread.seeds,
    }
    return Cell(
        shown=show(spread),
        parts={name: f"{v * SCALE:.6g}" for name, v in parts.items() if v is not None},
        rank=round(spread.mean * SCALE, 1),
    )


def plain_measure(value: float) -> Cell:
    """Return a metric of one run as a cell."""
    return measure(Spread(value, None, None))


def cells(study: Study, runs: Sequence[Run], k: int | None = None) -> list[Cell]:
    """Return the metrics of some runs of one variant, after ``k`` tasks or all."""
    found = study.spreads(runs, k)
    return [measure(found[name]) for name in metrics.NAMES]


def group(study: Study | None, runs: Sequence[Run]) -> list[Cell]:
    """Return the number of runs and their metrics; dashes where there is none."""
    if study is None or not runs:
        return [Cell("-"), *[NO_MEASURE] * len(metrics.NAMES)]
    return [Cell(str(len(runs))), *cells(study, runs)]


def columns(problems: int) -> tuple[str, ...]:
    """Return the header of so many groups of `group`."""
    return ("runs", *metrics.NAMES) * problems


def spans(problems: Mapping[str, object], left: int = 1) -> tuple[tuple[str, int], ...]:
    """Return what stands above ``left`` columns of words and a group for each problem."""
    return (("", left), *((problem.upper(), 1 + len(metrics.NAMES)) for problem in problems))
