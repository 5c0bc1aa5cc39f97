"""AP of each order alone: a mean over orders can hide differences that cancel."""

import math
import statistics

from row_values import made_by, measured, row_of

from lifelong_co.experiments.paired import Values, difference
from lifelong_co.experiments.sheet import SCALE, Row, Sheet, words
from lifelong_co.experiments.sweep import plan
from lifelong_co.experiments.sweep.table import Results


def each_order(found: Results, block: plan.Block, names: list[str]) -> Sheet:
    """Return AP by order, and its difference to the row that ``names`` has, paired by seed."""
    (name,) = names
    base = row_of(block, name)
    orders = list(dict.fromkeys(order for order, _, _ in base.cells))
    header = [[f"AP, {order.replace('order', 'order ')}", "difference"] for order in orders]
    rows = tuple(shown(found, row, base, orders) for row in block.rows)
    note = (
        f"Difference: to `{name}`; negative is better; not corrected for several tests. "
        f"{made_by(found, block.rows)}"
    )
    heads = ("method", *(head for pair in header for head in pair))
    return Sheet(key="orders", title="", header=heads, blocks=(rows,), note=note, best_of="none")


def shown(found: Results, row: plan.Row, base: plan.Row, orders: list[str]) -> Row:
    """Return the row of a method: mean and difference of each order."""
    cells = [row.label]
    for order in orders:
        own, of_base = (in_order(found, each, order) for each in (row, base))
        cells.append(f"{SCALE * statistics.fmean(own.values()):.1f}" if own else "-")
        apart = difference(own, of_base)
        off = f"{SCALE * apart.mean:+.1f} ± {SCALE * apart.interval:.1f}"
        cells.append("" if row is base else "-" if math.isnan(apart.mean) else off)
    return words(*cells)


def in_order(found: Results, row: plan.Row, order: str) -> Values:
    """Return the AP of the runs of a row in one order."""
    return {at: each.AP for at, each in measured(found, row).items() if at[0] == order}
