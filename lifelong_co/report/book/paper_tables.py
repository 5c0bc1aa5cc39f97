"""The paper's tables of metrics: over the orders, per order, of other solvers, of what was varied.

Each is a function of a chapter to the sheets that its runs give; none, if they give none.
"""

from collections.abc import Mapping, Sequence

from lifelong_co import metrics
from lifelong_co.report.book.sheet import Cell, Row, Sheet, words
from lifelong_co.report.book.studies import Arrival, Chapter, Study, Variant
from lifelong_co.report.runs import Run
from lifelong_co.report.tables import SCALE
from lifelong_co.sweep.spread import Spread, show
from lifelong_co.sweep.student import LEVEL

AT_ONCE = ("multi-task-epoch", "multi-task-batch")
"""Methods that learn all tasks at once: no lifelong learning, so only their costs are shown."""

UNITS = (
    "In 10⁻³, smaller is better: gaps (d − d*) / d* to d*, the least mean cost that any of these"
    " runs of the same solver and problem reached on a task."
)
SPREADS = (
    "mean (s) ± c: mean over orders and seeds; s: standard deviation of the orders' means, where"
    f" there are several; c: half of the {LEVEL:.0%} confidence interval over seeds, where there"
    " are several."
)


def over_orders(chapter: Chapter) -> list[Sheet]:
    """Return the mean of the metrics over the task orders, methods by problems (paper, table 1)."""
    studies = chapter.of(chapter.solvers[0])
    names = dict.fromkeys(
        variant.name
        for study in studies.values()
        for variant in study.main
        if variant.method not in AT_ONCE
    )
    if not names:
        return []
    block = tuple(
        (Cell(name), *(c for study in studies.values() for c in _group(study, _runs(study, name))))
        for name in names
    )
    return [
        Sheet(
            key="metrics",
            title=f"Metrics over the task orders ({chapter.solvers[0]})",
            header=("method", *_columns(len(studies))),
            spans=_spans(studies),
            blocks=(block,),
            common=f"{UNITS} {SPREADS}",
        )
    ]


def varied(chapter: Chapter) -> list[Sheet]:
    """Return the metrics of what was varied beside the methods as they are (paper, table 3)."""
    sheets = []
    for solver in chapter.solvers:
        studies = {p: s for p, s in chapter.of(solver).items() if len(s.variants) > len(s.main)}
        rows: dict[str, Row] = {}
        for label in dict.fromkeys(each for study in studies.values() for each in _varied(study)):
            cells = [Cell(label)]
            for study in studies.values():
                others = [each for each in study.variants if not each.main]
                places = {_place(run) for each in others for run in each.runs}
                variant = _varied(study).get(label)
                runs = [] if variant is None else variant.runs
                cells += _group(study, [run for run in runs if _place(run) in places])
            rows[label] = tuple(cells)
        if rows:
            defaults = [label for label in rows if label.endswith("default")]
            blocks = [[r for n, r in rows.items() if (n in defaults) == last] for last in (0, 1)]
            sheets.append(
                Sheet(
                    key="hyperparameters" + ("" if solver == chapter.solvers[0] else f"-{solver}"),
                    title=f"Hyperparameters and ablations ({solver})",
                    header=("setting", *_columns(len(studies))),
                    spans=_spans(studies),
                    blocks=tuple(tuple(block) for block in blocks),
                    note="Settings of llr-bc unless another method is named; default: the method as"
                    " it is, in the orders and with the seeds with which anything was varied.",
                    common=f"{UNITS} {SPREADS}",
                    best_of="none",
                )
            )
    return sheets


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
            for variant in study.main
            if variant.method not in AT_ONCE and any(r.names in orders for r in variant.runs)
        )
        block = []
        for name in names:
            cells = [Cell(f"{name} ({solver})")]
            for problem in chapter.problems:
                study = studies.get(problem)
                runs = [run for run in _runs(study, name) if run.names in orders]
                cells += _group(study, runs)
            block.append(tuple(cells))
        blocks.append(tuple(block))
    return [
        Sheet(
            key="applicability",
            title="Metrics with other base solvers",
            header=("method (solver)", *_columns(len(chapter.problems))),
            spans=_spans(dict.fromkeys(chapter.problems)),
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
    sheets = []
    for problem, study in chapter.of(solver).items():
        blocks = []
        for order, name in chapter.orders.items():
            rows = [
                (*words(name, each.name), *(c for k in ks for c in _cells(study, runs, k)))
                for each in study.main
                if each.method not in AT_ONCE and (runs := each.of(order))
            ]
            blocks += [tuple(rows)] if rows else []
        if blocks:
            sheets.append(
                Sheet(
                    key=f"per-order-{problem}",
                    title=f"Metrics in each order on {problem.upper()} ({solver})",
                    header=("order", "method", *(metrics.NAMES * len(ks))),
                    spans=(("", 2), *((f"k = {k}", len(metrics.NAMES)) for k in ks)),
                    blocks=tuple(blocks),
                    left=2,
                    note=f"After learning k tasks. Orders: {_told(chapter)}.",
                    common=f"{UNITS} {SPREADS}",
                )
            )
    return sheets


def measure(spread: Spread) -> Cell:
    """Return a metric as a cell: as the sweep's table shows it, in CSV number by number."""
    if spread.mean != spread.mean:
        return Cell("-")
    parts = {"": spread.mean, "std orders": spread.orders, f"ci{LEVEL:.0%} seeds": spread.seeds}
    return Cell(
        shown=show(spread),
        parts={name: f"{v * SCALE:.6g}" for name, v in parts.items() if v is not None},
        rank=round(spread.mean * SCALE, 1),
    )


def plain_measure(value: float) -> Cell:
    """Return a metric of one run as a cell."""
    return measure(Spread(value, None, None))


def _cells(study: Study, runs: Sequence[Run], k: int | None = None) -> list[Cell]:
    found = study.spreads(runs, k)
    return [measure(found[name]) for name in metrics.NAMES]


def _group(study: Study | None, runs: Sequence[Run]) -> list[Cell]:
    """Return the number of runs and their metrics; dashes where there is none."""
    if study is None or not runs:
        return list(words(*["-"] * (1 + len(metrics.NAMES))))
    return [Cell(str(len(runs))), *_cells(study, runs)]


def _runs(study: Study | None, name: str) -> list[Run]:
    """Return the runs of a method as it is."""
    main = () if study is None else study.main
    return [run for variant in main if variant.name == name for run in variant.runs]


def _varied(study: Study) -> dict[str, Variant]:
    """Return what was varied by its label, the methods as they are last."""
    several = {variant.method for variant in study.variants if not variant.main}
    rows = [each for each in study.variants if each.method in several]
    return {
        ("" if each.method == "llr-bc" else f"{each.method} ")
        + ("default" if each.main else each.name): each
        for each in sorted(rows, key=lambda variant: variant.main)
    }


def _place(run: Run) -> tuple[Arrival, int]:
    return run.names, run.config.seed


def _columns(problems: int) -> tuple[str, ...]:
    return ("runs", *metrics.NAMES) * problems


def _spans(problems: Mapping[str, object]) -> tuple[tuple[str, int], ...]:
    return (("", 1), *((problem.upper(), 1 + len(metrics.NAMES)) for problem in problems))


def _told(chapter: Chapter) -> str:
    return "; ".join(f"{name}: {' → '.join(tasks)}" for tasks, name in chapter.orders.items())
