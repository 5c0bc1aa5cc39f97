"""Methods that have about the time of `rehearsal` (the grids of `methods.toml` at equal time)."""

from collections.abc import Iterable
from statistics import fmean

from row_values import commits, measured, row_of
from speed_tables import ratio_of_steps

from lifelong_co import metrics
from lifelong_co.experiments.sheet import SCALE, Row, Sheet, words
from lifelong_co.experiments.spread import half_width
from lifelong_co.experiments.sweep import plan
from lifelong_co.experiments.sweep.table import Results

NAME, BASE = "at equal time", "rehearsal"
SHOWN = ("AP", "AF", "APl")


def equal_time(found: Results, block: plan.Block, names: list[str]) -> Sheet:  # noqa: ARG001
    """Return metrics of `rehearsal`, of these methods, and the paired difference of their AP."""
    base = row_of(block, BASE)
    wanted = NAME, block.problem
    apart = (each for each in found.plan.blocks if (each.title, each.problem) == wanted)
    rows = [row for each in apart for row in each.rows if found.finished(row)]
    header = ("method", "batches", "time of steps", "runs", *SHOWN, "AP, difference")
    made = tuple(shown(block.problem, row, base, found) for row in (base, *rows))
    note = f"Commit {', '.join(commits(found, (base, *rows)))}."
    return Sheet(
        key="equal_time", title="", header=header, blocks=(made,), note=note, best_of="none"
    )


def shown(problem: str, row: plan.Row, base: plan.Row, found: Results) -> Row:
    """Return the row of a method; its time is that of its steps, in multiples of `rehearsal`'s."""
    values, beside = by_seed(found, row), by_seed(found, base)
    seeds = sorted(values.keys() & beside.keys())
    batches, of_base = batches_of(found, row), batches_of(found, base)
    time = batches * ratio_of_steps(row.label, problem)
    time /= of_base * ratio_of_steps(base.label, problem)
    means = (spread(getattr(values[seed], name) for seed in seeds) for name in SHOWN)
    apart = [values[seed].AP - beside[seed].AP for seed in seeds]
    difference = "" if row is base else spread(apart, "+")
    return words(row.label, str(batches), f"{time:.2f}", str(len(seeds)), *means, difference)


def by_seed(found: Results, row: plan.Row) -> dict[int, metrics.Metrics]:
    """Return the metrics of a row; it has one order."""
    return {seed: each for (_, seed), each in measured(found, row).items()}


def batches_of(found: Results, row: plan.Row) -> int:
    """Return the batches of an epoch, which are equal in all tasks and runs."""
    (batches,) = {task.batches for run in found.finished(row).values() for task in run.config.tasks}
    return batches


def spread(values: Iterable[float], sign: str = "") -> str:
    """Return mean and half-width of the interval, in 10^-3."""
    each = list(values)
    width = half_width(each)
    shown = "" if width is None else f" ± {SCALE * width:.1f}"
    return f"{SCALE * fmean(each):{sign}.1f}{shown}"
