"""Optimality gaps of the rows of a sweep's table, where the tests have references."""

import statistics
from collections.abc import Mapping

import attrs

from lifelong_co.experiments.comparison.gaps import MeanReferences
from lifelong_co.experiments.comparison.runs import Run
from lifelong_co.experiments.comparison.tables import Table
from lifelong_co.experiments.sweep.plan import Block, Row
from lifelong_co.experiments.sweep.spread import Spread, show, spread
from lifelong_co.experiments.sweep.student import LEVEL

COLUMNS = (
    "gap_percent",
    "gap_percent_std_orders",
    f"gap_percent_ci{LEVEL * 100:.0f}_seeds",
    "gap_tasks",
    "gap_references",
)
"""What CSV has of a row."""


def caption(references: MeanReferences) -> str:
    """Return what the numbers of `gap_table` are, and which references were used."""
    return (
        "Optimality gaps in %: test cost after the last task over the mean reference, minus 1;"
        f" the mean over these tasks, and each. References {references.origin}"
    )


def gap_table(block: Block, runs: Mapping[str, Run], references: MeanReferences) -> Table:
    """Return a row for each of a table's that has a finished run."""
    several = len({row.solver for row in block.rows}) > 1
    means = references.means
    costs = [f"{mean:.4f}" for mean in means.values()]
    lines = [
        ["method", *(["solver"] if several else []), "mean gap", *means],
        ["reference", *([""] if several else []), "", *costs],
    ]
    for row in block.rows:
        found = _gaps(row, runs, means)
        if found:
            cells = [f"{spread(_only(found, task)).mean * 100:.2f}" for task in means]
            head = [row.label, *([row.solver] if several else [])]
            lines.append([*head, show(_mean(found), scale=100, digits=2), *cells])
    return lines


def csv_cells(row: Row, runs: Mapping[str, Run], references: MeanReferences | None) -> list[str]:
    """Return the cells of `COLUMNS`; empty where there is no such number."""
    found = {} if references is None else _gaps(row, runs, references.means)
    if references is None or not found:
        return [""] * len(COLUMNS)
    numbers = ["" if v is None else f"{v * 100:.6g}" for v in attrs.astuple(_mean(found))]
    return [*numbers, ", ".join(references.means), references.origin]


_Gaps = Mapping[tuple[str, int], Mapping[str, float]]


def _gaps(row: Row, runs: Mapping[str, Run], means: Mapping[str, float]) -> _Gaps:
    """Return the gap on each task that has references, of each finished run by order and seed."""
    if not means:
        return {}
    final = {
        (order, seed): dict(zip(runs[name].names, runs[name].costs[-1], strict=True))
        for order, seed, name in row.cells
        if name in runs
    }
    return {
        cell: {task: costs[task] / mean - 1 for task, mean in means.items()}
        for cell, costs in final.items()
    }


def _mean(found: _Gaps) -> Spread:
    return spread({cell: statistics.fmean(each.values()) for cell, each in found.items()})


def _only(found: _Gaps, task: str) -> dict[tuple[str, int], float]:
    return {cell: each[task] for cell, each in found.items()}
