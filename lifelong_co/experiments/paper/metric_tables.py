"""The paper's tables of metrics: over orders, ablations, other solvers, each order, all runs.

Each function takes a chapter and returns the sheets for which it has runs, possibly none.
"""

from collections.abc import Collection, Mapping, Sequence

import attrs

from lifelong_co import metrics
from lifelong_co.experiments.comparison.runs import FinishedRun
from lifelong_co.experiments.comparison.selection import sequence
from lifelong_co.experiments.definitions import WORDS
from lifelong_co.experiments.paired import Seed
from lifelong_co.experiments.paper import naming
from lifelong_co.experiments.paper.defaults import unlike_preset
from lifelong_co.experiments.paper.metric_sheet import (
    cells,
    common,
    groups,
    measure,
    metric_sheet,
    ranked,
    same_seeds,
)
from lifelong_co.experiments.paper.studies import Arrival, Chapter, Study, Variant
from lifelong_co.experiments.sheet import Cell, Row, Sheet, words
from lifelong_co.experiments.spread import Spread

Where = frozenset[tuple[Arrival, Seed]]
"""Orders and seeds."""


def over_orders(chapter: Chapter) -> list[Sheet]:
    """Return the mean of the metrics over the task orders, methods by problems (paper, table 1).

    Means over different orders are not comparable. So there is a block of rows for each set of
    orders that some method has. It holds all methods with these orders, averaged over these only.
    """
    solver = chapter.solvers[0]
    studies = chapter.of(solver)
    blocks = _blocks(chapter, studies, frozenset(chapter.orders))
    title = f"Metrics over the task orders ({solver})"
    note = unlike_preset(
        {
            variant.name + f", {problem}" * (len(studies) > 1): variant.runs[0].config
            for problem, study in studies.items()
            for variant in study.lifelong
        }
    )
    return _over_orders(chapter, "metrics", title, "method", studies, blocks, note)


def _blocks(
    chapter: Chapter,
    studies: Mapping[str, Study | None],
    among: frozenset[Arrival],
    ending: str = "",
) -> list[tuple[str, list[Row]]]:
    """Return for each set of orders that a method has its name, and the rows of all such methods.

    Only the orders ``among`` count. The ``ending`` follows the names of the methods.
    """
    variants = [variant for study in studies.values() if study for variant in study.lifelong]

    blocks = []
    sets = {variant.orders & among for variant in variants} - {frozenset()}
    for orders in sorted(sets, key=lambda of: (-len(of), chapter.shown(of))):
        names = dict.fromkeys(each.name for each in variants if orders <= each.orders)
        found = [[_whole(study, name, orders) for study in studies.values()] for name in names]
        fair = [same_seeds(runs for _, runs in column) for column in zip(*found, strict=True)]
        rows: list[Row] = [
            (Cell(name + ending), *groups(row, fair))
            for name, row in zip(names, found, strict=True)
        ]
        blocks.append((chapter.shown(orders), rows))
    return blocks


def _whole(
    study: Study | None, name: str, orders: frozenset[Arrival]
) -> tuple[Study | None, Sequence[FinishedRun]]:
    """Return the study and the runs of a method in these orders; none if an order is missing."""
    runs = study.runs(name, orders) if study else []
    return study, runs if {run.names for run in runs} == orders else []


def _over_orders(
    chapter: Chapter,
    key: str,
    title: str,
    first: str,
    problems: Collection[str],
    blocks: Sequence[tuple[str, list[Row]]],
    note: str = "",
) -> list[Sheet]:
    """Return a table of `_blocks`, with a column of orders if there are several sets."""
    if not blocks:
        return []
    heads = [first]
    rows = [each for _, each in blocks]
    if len({orders for orders, _ in blocks}) > 1:
        heads.append("orders")
        rows = [[(row[0], Cell(orders), *row[1:]) for row in each] for orders, each in blocks]
    return [metric_sheet(chapter, key, title, heads, problems, rows, note)]


def varied(chapter: Chapter) -> list[Sheet]:
    """Return the metrics of hyperparameters and ablations, a sheet per solver (paper, table 3).

    A variant is compared with the default in the same orders and with the same seeds. So its runs
    without such a default are left out, unless all are. Variants with the same orders and seeds
    share a block, and its last row is the default.
    """
    sheets = []
    for solver in chapter.solvers:
        studies = {p: s for p, s in chapter.of(solver).items() if len(s.variants) > len(s.main)}
        if studies:
            sheet = metric_sheet(
                chapter,
                "hyperparameters" + ("" if solver == chapter.solvers[0] else f"-{solver}"),
                f"Hyperparameters and ablations ({solver})",
                ["setting"],
                studies,
                _varied_blocks(list(studies.values())),
                f"Settings of {naming.PAPERS} if no method is named. Default: the"
                " nearest to the preset. Settings and default are shown with the orders and seeds"
                " that both have.",
                best_of="none",
            )
            sheets.append(sheet)
    return sheets


def _varied_blocks(studies: Sequence[Study]) -> list[list[Row]]:
    """Return a block of rows for all settings with the same orders and seeds, defaults last."""
    runs = [{_label(v.method, v): v.runs for v in study.variants} for study in studies]
    varied = [v for study in studies for v in study.variants if not v.main]
    methods = {_label(v.method, v): v.method for v in varied}
    blocks: dict[tuple[Where, ...], list[str]] = {}
    for label, method in methods.items():
        each = [[_places(found, name) for name in (label, _label(method))] for found in runs]
        shared = tuple(own & default or own for own, default in each)
        blocks.setdefault(shared, []).append(label)

    def row(label: str, places: tuple[Where, ...]) -> Row:
        there = [
            [run for run in found.get(label, ()) if (run.names, run.seed) in place]
            for found, place in zip(runs, places, strict=True)
        ]
        return (Cell(label), *groups(zip(studies, there, strict=True)))

    return [
        [
            row(each, places)
            for each in (*labels, *dict.fromkeys(_label(methods[x]) for x in labels))
        ]
        for places, labels in blocks.items()
    ]


def _places(found: Mapping[str, Sequence[FinishedRun]], label: str) -> Where:
    return frozenset((run.names, run.seed) for run in found.get(label, ()))


def _label(method: str, variant: Variant | None = None) -> str:
    """Return the name of a variant, or of the method's default, in the table."""
    name = "default" if variant is None or variant.main else variant.name
    return name if method == naming.PAPERS else f"{method} {name}"


def applicability(chapter: Chapter) -> list[Sheet]:
    """Return the metrics with each base solver, if there are several (paper, table 4)."""
    first, *others = chapter.solvers
    if not others:
        return []
    orders = frozenset(o for s in chapter.studies if s.solver != first for o in s.orders)
    blocks = []
    for solver in chapter.solvers:
        found = chapter.of(solver)
        studies = {problem: found.get(problem) for problem in chapter.problems}
        blocks += _blocks(chapter, studies, orders, f" ({solver})")
    title, note = "Metrics with other base solvers", "d* differs from solver to solver."
    return _over_orders(
        chapter, "applicability", title, "method (solver)", chapter.problems, blocks, note
    )


def per_order(chapter: Chapter) -> list[Sheet]:
    """Return the metrics in each order after half and after all tasks (paper, appendix)."""
    whole = len(chapter.tasks)
    half = (whole + 1) // 2
    ks = [half, whole] if 1 < half < whole else [whole]
    solver = chapter.solvers[0]
    orders = "; ".join(f"{name}: {sequence(tasks)}" for tasks, name in chapter.orders.items())
    said = WORDS[chapter.definition]
    sheets = []
    for problem, study in chapter.of(solver).items():
        blocks = []
        for order, name in chapter.orders.items():
            fair = same_seeds(each.of(order) for each in study.lifelong)
            rows = [
                (
                    *words(name, each.name, str(len(runs))),
                    *ranked((cell for k in ks for cell in cells(study, runs, k)), fair),
                )
                for each in study.lifelong
                if (runs := each.of(order))
            ]
            blocks += [tuple(rows)] if rows else []
        sheet = Sheet(
            key=f"per-order-{problem}",
            title=f"Metrics in each order on {problem.upper()} ({solver}){said.title}",
            header=("order", "method", "runs", *(metrics.NAMES * len(ks))),
            spans=(("", 3), *((f"k = {k}", len(metrics.NAMES)) for k in ks)),
            blocks=tuple(blocks),
            left=2,
            note=f"Metrics after learning the first k tasks.{said.first_tasks} Orders: {orders}.",
            common=common(chapter),
        )
        sheets += [sheet] if blocks else []
    return sheets


def all_runs(chapter: Chapter) -> Sheet:
    """Return a row for each run: its metrics, minutes of training, versions and folder."""
    rows = []
    for study, variant, run in chapter.runs():
        order, seed = chapter.orders[run.names], str(run.config.seed)
        minutes = "-" if run.seconds is None else f"{run.seconds / 60:.1f}"
        values = attrs.astuple(study.metrics(run))
        rows.append(
            (
                *words(study.problem, variant.title, study.solver, order, seed),
                *(measure(Spread(value)) for value in values),
                *words(minutes, "; ".join(run.made_by), str(run.path)),
            )
        )
    names = ("problem", "method", "solver", "order", "seed", *metrics.NAMES)
    return Sheet(
        key="runs",
        title=f"The runs{WORDS[chapter.definition].title}",
        header=(*names, "minutes", "made by", "folder"),
        blocks=(tuple(rows),),
        left=5,
        note="Metrics in 10⁻³. Minutes: time of training. Made by: a + after the commit stands for"
        " changes.",
        best_of="none",
    )
