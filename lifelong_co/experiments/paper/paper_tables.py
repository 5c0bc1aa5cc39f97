"""The paper's tables of metrics: over the orders, per order, of other solvers.

Each is a function of a chapter to the sheets that its runs give; none, if they give none.
"""

from collections.abc import Collection

from lifelong_co import metrics
from lifelong_co.experiments.comparison.runs import Run
from lifelong_co.experiments.paper.measures import SPREADS, UNITS, cells, columns, group, spans
from lifelong_co.experiments.paper.studies import Arrival, Chapter, Study
from lifelong_co.experiments.sheet import Cell, Sheet, words


def over_orders(chapter: Chapter) -> list[Sheet]:
    """Return the mean of the metrics over the task orders, methods by problems (paper, table 1).

    Means over different orders are not set against each other: for each set of orders that a method
    has there is a block of all methods that have these, in these alone.
    """
    studies = chapter.of(chapter.solvers[0])
    sets = {
        frozenset(run.names for run in variant.runs)
        for study in studies.values()
        for variant in study.lifelong
    }
    blocks = []
    for orders in sorted(sets, key=lambda of: (-len(of), _told(chapter, of))):
        told = [_told(chapter, orders)] if len(sets) > 1 else []
        methods = dict.fromkeys(
            variant.name
            for study in studies.values()
            for variant in study.lifelong
            if _runs(study, variant.name, orders)
        )
        blocks.append(
            tuple(
                (
                    *words(name, *told),
                    *(c for s in studies.values() for c in group(s, _runs(s, name, orders))),
                )
                for name in methods
            )
        )
    if not blocks:
        return []
    left = 1 + (len(sets) > 1)
    return [
        Sheet(
            key="metrics",
            title=f"Metrics over the task orders ({chapter.solvers[0]})",
            header=("method", *["orders"] * (left - 1), *columns(len(studies))),
            spans=spans(studies, left),
            blocks=tuple(blocks),
            left=left,
            common=f"{UNITS} {SPREADS}",
        )
    ]


def applicability(chapter: Chapter) -> list[Sheet]:
    """Return the metrics with each base solver, where there are several (paper, table 4)."""
    first, *others = chapter.solvers
    if not others:
        return []
    orders = {order for s in chapter.studies if s.solver != first for order in s.orders}
    blocks = []
    for solver in (first, *others):
        studies = chapter.of(solver)
        names = dict.fromkeys(
            variant.name
            for study in studies.values()
            for variant in study.lifelong
            if any(run.names in orders for run in variant.runs)
        )
        block = []
        for name in names:
            row = [Cell(f"{name} ({solver})")]
            for problem in chapter.problems:
                study = studies.get(problem)
                row += group(study, _in(study, name, orders))
            block.append(tuple(row))
        blocks.append(tuple(block))
    return [
        Sheet(
            key="applicability",
            title="Metrics with other base solvers",
            header=("method (solver)", *columns(len(chapter.problems))),
            spans=spans(dict.fromkeys(chapter.problems)),
            blocks=tuple(block for block in blocks if block),
            note="Each solver has a d* of its own.",
            common=f"{UNITS} {SPREADS}",
        )
    ]


def per_order(chapter: Chapter) -> list[Sheet]:
    """Return the metrics in each order after half and after all tasks (paper, appendix)."""
    whole = len(chapter.tasks)
    half = (whole + 1) // 2
    ks = [half, whole] if 1 < half < whole else [whole]
    solver = chapter.solvers[0]
    orders = "; ".join(f"{name}: {' → '.join(tasks)}" for tasks, name in chapter.orders.items())
    sheets = []
    for problem, study in chapter.of(solver).items():
        blocks = []
        for order, name in chapter.orders.items():
            rows = [
                (
                    *words(name, each.name, str(len(runs))),
                    *(cell for k in ks for cell in cells(study, runs, k)),
                )
                for each in study.lifelong
                if (runs := each.of(order))
            ]
            blocks += [tuple(rows)] if rows else []
        if blocks:
            sheets.append(
                Sheet(
                    key=f"per-order-{problem}",
                    title=f"Metrics in each order on {problem.upper()} ({solver})",
                    header=("order", "method", "runs", *(metrics.NAMES * len(ks))),
                    spans=(("", 3), *((f"k = {k}", len(metrics.NAMES)) for k in ks)),
                    blocks=tuple(blocks),
                    left=2,
                    note=f"After learning k tasks. Orders: {orders}.",
                    common=f"{UNITS} {SPREADS}",
                )
            )
    return sheets


def _in(study: Study | None, name: str, orders: Collection[Arrival]) -> list[Run]:
    """Return the runs of a method as it is in some orders."""
    main = () if study is None else study.main
    runs = [run for variant in main if variant.name == name for run in variant.runs]
    return [run for run in runs if run.names in orders]


def _runs(study: Study, name: str, orders: Collection[Arrival]) -> list[Run]:
    """Return them where the method has them all; [] else."""
    runs = _in(study, name, orders)
    return runs if {run.names for run in runs} == set(orders) else []


def _told(chapter: Chapter, orders: Collection[Arrival]) -> str:
    return ", ".join(name for order, name in chapter.orders.items() if order in orders)
