"""The paper's tables of metrics: over orders, ablations, other solvers, each order, all runs.

Each function takes a chapter and returns the sheets for which it has runs, possibly none.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from typing import Literal

import attrs

from lifelong_co import metrics
from lifelong_co.experiments.comparison.runs import Run
from lifelong_co.experiments.definitions import WORDS
from lifelong_co.experiments.paper import naming
from lifelong_co.experiments.paper.studies import Arrival, Chapter, Study, Variant
from lifelong_co.experiments.sheet import THOUSANDTHS, Cell, Row, Sheet, words
from lifelong_co.experiments.spread import LEVEL, OVER_ORDERS, Spread, cell

COMMON = (
    "In 10⁻³, lower is better: gaps (d − d*) / d*. d* is the lowest mean cost on a task {tests} of"
    " the runs here with the same solver and problem, except multi-task runs. AF and AMF are"
    " {forgetting}. mean (s) ± c: mean over orders and seeds; s: {deviation} standard deviation of"
    " the means of the orders (with several orders); c: half-width of the"
    f" {LEVEL:.0%} confidence interval over seeds (with several seeds)."
)
Where = frozenset[tuple[Arrival, int]]
"""Orders and seeds."""


def over_orders(chapter: Chapter) -> list[Sheet]:
    """Return the mean of the metrics over the task orders, methods by problems (paper, table 1).

    Means over different orders are not comparable. So there is a block of rows for each set of
    orders that some method has. It holds all methods with these orders, averaged over these only.
    """
    studies = chapter.of(chapter.solvers[0])
    variants = [variant for study in studies.values() for variant in study.lifelong]
    sets = {variant.orders for variant in variants}

    def shown(orders: Collection[Arrival]) -> str:
        return ", ".join(name for order, name in chapter.orders.items() if order in orders)

    blocks = []
    for orders in sorted(sets, key=lambda of: (-len(of), shown(of))):
        said = [shown(orders)] if len(sets) > 1 else []
        names = dict.fromkeys(each.name for each in variants if orders <= each.orders)
        rows = []
        for name in names:
            found = ((study, study.runs(name, orders)) for study in studies.values())
            whole = [(study, r if {run.names for run in r} == orders else []) for study, r in found]
            rows.append((*words(name, *said), *_groups(whole)))
        blocks.append(rows)
    title = f"Metrics over the task orders ({chapter.solvers[0]})"
    first = ["method", "orders"] if len(sets) > 1 else ["method"]
    return [_sheet(chapter, "metrics", title, first, studies, blocks)] if blocks else []


def varied(chapter: Chapter) -> list[Sheet]:
    """Return the metrics of hyperparameters and ablations, a sheet per solver (paper, table 3).

    A variant is compared with the default in the same orders and with the same seeds. So variants
    with the same orders and seeds share a block, and its last row is the default.
    """
    sheets = []
    for solver in chapter.solvers:
        studies = {p: s for p, s in chapter.of(solver).items() if len(s.variants) > len(s.main)}
        if studies:
            sheet = _sheet(
                chapter,
                "hyperparameters" + ("" if solver == chapter.solvers[0] else f"-{solver}"),
                f"Hyperparameters and ablations ({solver})",
                ["setting"],
                studies,
                _varied_blocks(list(studies.values())),
                f"Settings of {naming.PAPERS} if no method is named. Default: the options of the"
                " preset, with the same orders and seeds as the settings above it.",
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
    for label in methods:
        places = tuple(frozenset(map(_where, found.get(label, ()))) for found in runs)
        blocks.setdefault(places, []).append(label)

    def row(label: str, places: tuple[Where, ...]) -> Row:
        there = [
            [run for run in found.get(label, ()) if _where(run) in place]
            for found, place in zip(runs, places, strict=True)
        ]
        return (Cell(label), *_groups(zip(studies, there, strict=True)))

    return [
        [
            row(each, places)
            for each in (*labels, *dict.fromkeys(_label(methods[x]) for x in labels))
        ]
        for places, labels in blocks.items()
    ]


def _label(method: str, variant: Variant | None = None) -> str:
    """Return the name of a variant, or of the method's default, in the table."""
    name = "default" if variant is None or variant.main else variant.name
    return name if method == naming.PAPERS else f"{method} {name}"


def _where(run: Run) -> tuple[Arrival, int]:
    return run.names, run.config.seed


def applicability(chapter: Chapter) -> list[Sheet]:
    """Return the metrics with each base solver, if there are several (paper, table 4)."""
    first, *others = chapter.solvers
    if not others:
        return []
    orders = {order for s in chapter.studies if s.solver != first for order in s.orders}
    blocks = []
    for solver in chapter.solvers:
        studies = chapter.of(solver)
        lifelong = [variant for study in studies.values() for variant in study.lifelong]
        names = dict.fromkeys(each.name for each in lifelong if each.orders & orders)
        rows = []
        for name in names:
            found = (studies.get(problem) for problem in chapter.problems)
            groups = [(study, study.runs(name, orders) if study else []) for study in found]
            rows.append((Cell(f"{name} ({solver})"), *_groups(groups)))
        blocks += [rows] if rows else []
    title, note = "Metrics with other base solvers", "d* differs from solver to solver."
    named = ["method (solver)"]
    return [_sheet(chapter, "applicability", title, named, chapter.problems, blocks, note)]


def per_order(chapter: Chapter) -> list[Sheet]:
    """Return the metrics in each order after half and after all tasks (paper, appendix)."""
    whole = len(chapter.tasks)
    half = (whole + 1) // 2
    ks = [half, whole] if 1 < half < whole else [whole]
    solver = chapter.solvers[0]
    orders = "; ".join(f"{name}: {' → '.join(tasks)}" for tasks, name in chapter.orders.items())
    said = WORDS[chapter.definition]
    sheets = []
    for problem, study in chapter.of(solver).items():
        blocks = []
        for order, name in chapter.orders.items():
            rows = [
                (
                    *words(name, each.name, str(len(runs))),
                    *(cell for k in ks for cell in _cells(study, runs, k)),
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
            common=COMMON.format(**attrs.asdict(WORDS[chapter.definition])),
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
                *(_measure(Spread(value)) for value in values),
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


def _sheet(
    chapter: Chapter,
    key: str,
    title: str,
    first: Sequence[str],
    problems: Collection[str],
    blocks: Iterable[Sequence[Row]],
    note: str = "",
    best_of: Literal["column", "none"] = "column",
) -> Sheet:
    """Return a table with some columns of words, then a group of columns for each problem."""
    group = ("runs", *metrics.NAMES)
    return Sheet(
        key=key,
        title=title + WORDS[chapter.definition].title,
        header=(*first, *group * len(problems)),
        spans=(("", len(first)), *((problem.upper(), len(group)) for problem in problems)),
        blocks=tuple(map(tuple, blocks)),
        left=len(first),
        note=note,
        common=COMMON.format(**attrs.asdict(WORDS[chapter.definition])),
        best_of=best_of,
    )


def _groups(found: Iterable[tuple[Study | None, Sequence[Run]]]) -> list[Cell]:
    """Return the number of runs and their metrics in each study; dashes without runs."""
    cells = []
    for study, runs in found:
        if study is None or not runs:
            cells += [Cell("-"), *[_measure(Spread(math.nan))] * len(metrics.NAMES)]
        else:
            cells += [Cell(str(len(runs))), *_cells(study, runs)]
    return cells


def _cells(study: Study, runs: Sequence[Run], k: int | None = None) -> list[Cell]:
    """Return the metrics of some runs of one variant, after ``k`` tasks; None: after all."""
    return [_measure(spread) for spread in study.spreads(runs, k).values()]


def _measure(spread: Spread) -> Cell:
    """Return the cell of a metric; CSV has a column for each of its numbers that is defined."""
    made = cell(spread, OVER_ORDERS)
    parts = {name: number for name, number in made.parts.items() if number}
    return attrs.evolve(made, parts=parts or {THOUSANDTHS: ""})
