"""Methods that have the time of `rehearsal`, or somewhat more (`methods.toml`, at equal time)."""

import math

from row_values import made_by, measured, row_of
from speed_tables import ratio_of_steps

from lifelong_co import metrics, registry
from lifelong_co.experiments.paired import Values, difference
from lifelong_co.experiments.sheet import SCALE, Row, Sheet, words
from lifelong_co.experiments.sweep import plan
from lifelong_co.experiments.sweep.table import Results

NAME, BASE = "at equal time", "rehearsal"
SHOWN = ("AP", "AF", "APl")


def equal_time(found: Results, block: plan.Block, names: list[str]) -> Sheet:  # noqa: ARG001
    """Return metrics of `rehearsal`, of these methods, and the paired difference of their AP."""
    base = row_of(block, BASE)
    wanted = NAME, block.problem
    apart = (each for each in found.plan.blocks if (each.title, each.problem) == wanted)
    rows = (base, *(row for each in apart for row in each.rows))
    header = ("method", "batches", "time of steps", "runs", *SHOWN, "AP, difference")
    made = tuple(shown(found, block.problem, row, base) for row in rows)
    note = made_by(found, rows)
    return Sheet(
        key="equal_time", title="", header=header, blocks=(made,), note=note, best_of="none"
    )


def shown(found: Results, problem: str, row: plan.Row, base: plan.Row) -> Row:
    """Return the row of a method; its time is that of its steps, in multiples of `rehearsal`'s."""
    steps, of_base = (
        batches(found, each) * ratio_of_steps(as_timed(found, each), problem)
        for each in (row, base)
    )
    head = (row.label, str(batches(found, row)), f"{steps / of_base:.2f}")
    means = dict(zip(metrics.NAMES, found.metrics(row), strict=True))
    apart = difference(by_seed(found, row), by_seed(found, base))
    off = f"{SCALE * apart.mean:+.1f} ± {SCALE * apart.interval:.1f}"
    known = "" if row is base else "-" if math.isnan(apart.mean) else off
    runs = str(len(found.finished(row)))
    return (*words(*head, runs), *(means[name] for name in SHOWN), *words(known))


def by_seed(found: Results, row: plan.Row) -> Values:
    """Return the AP of a row by seed; its only order has no name, so that rows can be paired."""
    return {("", seed): each.AP for (_, seed), each in measured(found, row).items()}


def as_timed(found: Results, row: plan.Row) -> str:
    """Return the name of a row's method in `method_steps.py`: with its share if that is changed."""
    config = found.plan.jobs[row.cells[0][2]].config
    changed = registry.changed_options("method", config.method, config.method_options)
    return f"{config.method}, share={changed['share']:g}" if "share" in changed else config.method


def batches(found: Results, row: plan.Row) -> int:
    """Return the batches of an epoch, which are equal in all tasks and runs of a row."""
    configs = (found.plan.jobs[name].config for _, _, name in row.cells)
    (number,) = {task.batches for config in configs for task in config.tasks}
    return number
