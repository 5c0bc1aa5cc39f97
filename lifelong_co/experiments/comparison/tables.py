"""The tables of a comparison, and their text, CSV and JSON."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from lifelong_co import metrics
from lifelong_co.experiments import formats
from lifelong_co.experiments.comparison.comparison import Comparison
from lifelong_co.experiments.comparison.makers import mixed
from lifelong_co.experiments.comparison.paired_table import (
    as_cells,
    paired_table,
    pairs_of,
    untested,
)
from lifelong_co.experiments.comparison.paired_table import as_json as paired_json
from lifelong_co.experiments.comparison.runs import FinishedRun, final_note
from lifelong_co.experiments.comparison.selection import MARKS, shown
from lifelong_co.experiments.comparison.split_table import COLUMNS, split_table
from lifelong_co.experiments.definitions import WORDS
from lifelong_co.experiments.references.gaps import MeanReferences
from lifelong_co.experiments.sheet import Cell, Row, Sheet, words
from lifelong_co.experiments.spread import cell
from lifelong_co.runs import measured
from lifelong_co.runs.epochs import ALL

GAPS = "Mean test cost after the last task, and gap to the references"
"""The title of `gap_table`, without the folders."""
IN_UNIT_SQUARE = "Costs are of instances in the unit square, perhaps not in the unit of a file."
NOT_MEASURED = (
    'with tests_after = "next", d* is the lowest measured cost, and a dash in AF or AMF means not'
    " measured"
)


def not_measured(runs: Iterable[FinishedRun]) -> str:
    """Return what a dash means, as a sentence; empty if no run leaves out tests."""
    said = f"{NOT_MEASURED[0].upper()}{NOT_MEASURED[1:]}."
    return said if any(run.sparse for run in runs) else ""


def metrics_table(comparison: Comparison) -> Sheet:
    """Return a row per group: label, number of runs, and each metric as ``mean (std)`` in 10^-3."""
    rows = [
        (
            *words(group.label, str(len(group.runs))),
            *(cell(comparison.spread(group, name)) for name in metrics.NAMES),
        )
        for group in comparison.groups
    ]
    return Sheet(
        key="metrics",
        title=f"Metrics on {comparison.problem}, {caption(comparison)}".replace("; ", ";\n"),
        header=("method", "runs", *metrics.NAMES),
        blocks=(tuple(rows),),
        best_of="none",
    )


def cost_table(title: str, run: FinishedRun, cost: Callable[[int, int], float]) -> Sheet:
    """Return a cost matrix: a row after learning each task, a column for each task tested.

    The cells of the diagonal, just after learning that task, are marked. The cell of a cost that
    was not measured, ``nan``, is empty. If there are many tasks, the table has some of them. The
    matrix of a method that learns all tasks at once has one row, at the end.
    """
    names, at_once = run.names, run.knows_all_tasks
    chosen = shown(len(names), MARKS)
    rows: list[Row] = []
    for i in chosen[-1:] if at_once else chosen:
        values = [(cost(i, j), i == j and not at_once) for j in chosen]
        shown_as = ("" if math.isnan(value) else f"{value:.4f}" for value, _ in values)
        cells = (Cell(text, marked=on) for text, (_, on) in zip(shown_as, values, strict=True))
        rows.append((Cell(ALL if at_once else f"{i + 1}. {names[i]}"), *cells))
    return Sheet(
        key="costs",
        title=title,
        header=("after", *(names[j] for j in chosen)),
        blocks=(tuple(rows),),
        note=f"{len(chosen)} of {len(names)} tasks; costs.csv has all."
        if len(chosen) < len(names)
        else "",
    )


def gap_table(comparison: Comparison, references: MeanReferences) -> Sheet:
    """Return a row of the references, then a row per group: `Group.final` and its gaps.

    A group of several seeds has their mean cost.
    """
    means = references.means
    rows = [words("reference", *(f"{mean:.4f}" for mean in means.values()))]
    for group in comparison.groups:
        costs, found = group.final, comparison.gaps(group, means)
        shown = (f"{costs[t]:.4f} ({percent(found[t])})" for t in means)
        rows.append(words(group.label, *shown))
    notes = (final_note(comparison.runs), WORDS[comparison.definition].gap)
    return Sheet(
        key="gaps",
        title=f"{GAPS} {references.origin}",
        header=("method", *means),
        blocks=(tuple(rows),),
        note=" ".join(filter(None, notes)),
    )


def percent(fraction: float | None, digits: int = 2) -> str:
    """Return a gap in per cent; a dash for None."""
    return "-" if fraction is None else f"{fraction:.{digits}%}"


def caption(comparison: Comparison) -> str:
    """Return one line that explains the numbers of `metrics_table`."""
    count = len(comparison.runs)
    runs = "this run" if count == 1 else f"these {count} runs"
    at_once = [run.knows_all_tasks for run in comparison.runs]
    runs += " except multi-task" if any(at_once) and not all(at_once) else ""
    said = WORDS[comparison.definition]
    parts = [
        "in 10^-3, lower is better",
        f"gaps (d - d*) / d* to the lowest cost d* of {runs} {said.tests}",
        f"AF and AMF {said.forgetting}",
    ]
    if comparison.alone:
        parts.append("one cost has nothing to be compared with")
    if any(run.sparse for run in comparison.runs):
        parts.append(NOT_MEASURED)
    if any(len(group.runs) > 1 for group in comparison.groups):
        parts.append(f"mean ({said.deviation} standard deviation) over seeds")
    return "; ".join(parts)


def as_text(
    comparison: Comparison, references: MeanReferences | None = None, *, split: bool = False
) -> str:
    """Return the tables of metrics, paired tests and costs, and the gaps if there are references.

    With ``split`` there is also the table that splits AP.

    A last line warns of runs made by different versions.
    """
    sheets = [metrics_table(comparison)]
    sheets += [parts_of_ap] if split and (parts_of_ap := split_table(comparison)).rows else []
    tests = paired_table(pairs) if (pairs := pairs_of(comparison)) else None
    if tests and tests.rows:
        sheets.append(tests)
    for group in comparison.groups:
        several = f" (mean of {len(group.runs)} runs)" if len(group.runs) > 1 else ""
        title = f"Mean test cost, {group.label}{several}"
        sheets.append(cost_table(title, group.runs[0], group.cost))
    if references and references.means:
        sheets.append(gap_table(comparison, references))
    parts = [formats.text(sheet) for sheet in sheets]
    if tests and (reason := untested(comparison, tests)):
        parts.insert(1, f"{reason}\n")
    if references and references.notes:
        parts.append("".join(f"{note}\n" for note in references.notes))
    if any(task.files for run in comparison.runs for task in run.config.tasks):
        parts.append(f"{IN_UNIT_SQUARE}\n")
    if warning := mixed(comparison.runs):
        parts.append(f"warning: {warning}\n")
    return "\n".join(parts)


def as_csv(
    comparison: Comparison,
    references: Mapping[str, float] | None = None,
    *,
    split: bool = False,
) -> str:
    """Return the metrics in 10^-3 as CSV: one column for the mean, one for the standard deviation.

    The standard deviation over seeds is empty for a single run, and so is a metric that is not
    defined. With ``split``, the parts of AP follow. If there are paired tests, the other method,
    the number of seeds, and each metric's difference, interval and p follow. With ``references``,
    the mean reference cost of each task, two more columns per task follow: `Group.final`, and its
    gap to the reference as a plain fraction.
    """
    means, sheet = references or {}, metrics_table(comparison)
    labels = [group.label for group in comparison.groups]
    names, tests = as_cells(pairs_of(comparison), labels)
    # After the label, the number of runs and AP.
    parts = {row[0].shown: row[3:] for row in split_table(comparison).rows} if split else {}
    of_ap = COLUMNS[1:] if parts else ()
    rows = []
    for row, group, tested in zip(sheet.rows, comparison.groups, tests, strict=True):
        costs, found = group.final, comparison.gaps(group, means)
        shown = {t: "" if value is None else f"{value:.6f}" for t, value in found.items()}
        more = ({"cost": f"{costs[t]:.6g}", "gap_fraction": shown[t]} for t in means)
        split_up = parts.get(group.label, words(*(formats.NOTHING for _ in of_ap)))
        rows.append((*row, *split_up, *tested, *(Cell("", each) for each in more)))
    header = (*sheet.header, *of_ap, *names, *means)
    return formats.as_csv(attrs.evolve(sheet, header=header, blocks=(tuple(rows),)))


def _costs(run: FinishedRun) -> dict[str, Any]:
    """Return the cost matrix, or what was measured of it, as in ``metrics.json``."""
    if not run.sparse:
        return {"costs": [list(row) for row in run.costs]}
    found = enumerate(run.rows, start=1)
    return {"tests": [[i, j + 1, row[j]] for i, row in found for j in sorted(row)]}


def as_json(
    comparison: Comparison, references: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Return everything as JSON values; metrics and gaps are plain fractions, null if not defined.

    With ``references``, the mean reference cost of each task, there are also the ``gaps`` of
    `Group.final`.
    """
    means = references or {}
    known: dict[str, Any] = {"references": dict(means)} if means else {}
    return {
        "problem": comparison.problem,
        "definition": comparison.definition,
        "best": dict(comparison.best),
        **known,
        **({"paired": paired_json(pairs)} if (pairs := pairs_of(comparison)) else {}),
        "groups": [
            {
                "label": group.label,
                **({"gaps": comparison.gaps(group, means)} if means else {}),
                "runs": [
                    {
                        "path": str(run.path),
                        "seed": run.config.seed,
                        "tasks": list(run.names),
                        **_costs(run),
                        "metrics": metrics.json_values(comparison.metrics(run)),
                        "split": _split(comparison, run),
                    }
                    for run in group.runs
                ],
            }
            for group in comparison.groups
        ],
    }


def _split(comparison: Comparison, run: FinishedRun) -> dict[str, float] | None:
    """Return the parts of AP; None if they have no meaning."""
    if run.knows_all_tasks or comparison.alone:
        return None
    best = [comparison.best[name] for name in run.names]
    return attrs.asdict(measured.split(run.rows, best))
