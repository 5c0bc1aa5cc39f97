"""The metrics table and the cost matrices as rows of strings, and these as text, CSV and JSON."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from lifelong_co import metrics, registry
from lifelong_co.experiments.comparison.comparison import Comparison, Group

Table = list[list[str]]
"""The header row, then the rows; every row as long as the header."""

SCALE = 1e3
"""Metrics are shown in 10^-3, as in the paper's tables."""

MEANINGS = {
    "AP": "Average performance: the mean gap over all tasks once the last is learned.",
    "AF": "Average forgetting: how far the gap on each earlier task has risen by the end since it"
    " was learned (0 where it fell).",
    "AMF": "Average maximal forgetting: how far it had risen at its worst.",
    "APl": "Average plasticity: the mean gap on each task just after learning it.",
    "AG": "Average zero-shot generalization: the mean gap on each task just before learning it.",
}
"""One sentence for each metric."""


def markdown(table: Table) -> str:
    """Return a table as Markdown, the first column to the left and the others to the right."""
    header, *rows = ([cell.replace("|", r"\|") for cell in row] for row in table)
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))


def metrics_table(comparison: Comparison) -> Table:
    """Return a row per group: label, number of runs, and each metric as ``mean (std)`` in 10^-3."""
    table = [["method", "runs", *metrics.NAMES]]
    for group in comparison.groups:
        cells = [_cell(*comparison.spread(group, name)) for name in metrics.NAMES]
        table.append([group.label, str(len(group.runs)), *cells])
    return table


def cost_table(names: Sequence[str], costs: Sequence[Sequence[float]]) -> Table:
    """Return a cost matrix: a row after learning each task, a column for each task tested."""
    rows = [[f"{i}. {names[i - 1]}", *(f"{cost:.4f}" for cost in costs[i - 1])]
            for i in range(1, len(names) + 1)]  # fmt: skip
    return [["after", *names], *rows]


def caption(comparison: Comparison) -> str:
    """Return what the numbers of `metrics_table` are, in one line."""
    count = len(comparison.runs)
    runs = "this run" if count == 1 else f"these {count} runs"
    at_once = [registry.knows_all_tasks(run.config.method) for run in comparison.runs]
    runs += " but multi-task" if any(at_once) and not all(at_once) else ""
    said = f"in 10^-3, lower is better; gaps (d - d*) / d* to the least cost d* of {runs}"
    repeated = any(len(group.runs) > 1 for group in comparison.groups)
    return said + ("; mean (standard deviation) over seeds" if repeated else "")


def as_text(comparison: Comparison) -> str:
    """Return the metrics table and each group's cost matrix in plain ASCII but for the labels."""
    said = f"Metrics on {comparison.problem}, {caption(comparison)}".replace("; ", ";\n")
    parts = [said, "", align(metrics_table(comparison), left=1)]
    for group in comparison.groups:
        parts += ["", f"Mean test cost, {title(group)}", ""]
        parts.append(align(cost_table(group.runs[0].names, group.costs), left=1))
    return "\n".join(parts) + "\n"


def title(group: Group) -> str:
    """Return the label of a group with the number of its runs where there are several."""
    return group.label + (f" (mean of {len(group.runs)} runs)" if len(group.runs) > 1 else "")


def as_csv(comparison: Comparison, references: Mapping[str, float] | None = None) -> str:
    """Return the metrics in 10^-3 as CSV: mean and standard deviation in columns of their own.

    The standard deviation over seeds is empty for a single run, and so is a metric that is not
    defined. With the mean reference costs of tasks two columns follow for each of these: mean cost
    after the last task, and its gap to the reference as a plain fraction.
    """
    means = references or {}
    columns = [f"{name}{kind}_1e-3" for name in metrics.NAMES for kind in ("", "_std")]
    columns += [f"{task}_{kind}" for task in means for kind in ("cost", "gap")]
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(["method", "runs", *columns])
    for group in comparison.groups:
        values = [v for name in metrics.NAMES for v in comparison.spread(group, name)]
        cells = ["" if v is None or v != v else f"{v * SCALE:.6g}" for v in values]
        for cost, gap in final_gaps(group, means).values():
            cells += [f"{cost:.6g}", f"{gap:.6f}"]
        writer.writerow([group.label, len(group.runs), *cells])
    return lines.getvalue()


def as_json(
    comparison: Comparison, references: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Return everything as JSON values; metrics and gaps as plain fractions, null if not defined.

    ``references``, the mean reference costs of tasks, bring ``gaps``: of each group's mean costs
    after the last task.
    """
    means = references or {}
    known: dict[str, Any] = {"references": dict(means)} if means else {}
    return {
        "problem": comparison.problem,
        "best": dict(comparison.best),
        **known,
        "groups": [
            {
                "label": group.label,
                **(
                    {"gaps": {t: gap for t, (_, gap) in final_gaps(group, means).items()}}
                    if means
                    else {}
                ),
                "runs": [
                    {
                        "path": str(run.path),
                        "seed": run.config.seed,
                        "tasks": list(run.names),
                        "costs": [list(row) for row in run.costs],
                        "metrics": metrics.json_values(comparison.metrics(run)),
                    }
                    for run in group.runs
                ],
            }
            for group in comparison.groups
        ],
    }


def final_gaps(group: Group, references: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Return mean cost after the last task and its gap to the mean reference, by task."""
    final = dict(zip(group.runs[0].names, group.costs[-1], strict=True))
    return {task: (final[task], final[task] / mean - 1) for task, mean in references.items()}


def align(table: Table, left: int) -> str:
    """Return a table in columns of fixed width, the first ``left`` of them flush left."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in [table[0], ["-" * width for width in widths], *table[1:]]:
        cells = [
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _cell(mean: float, deviation: float | None) -> str:
    if mean != mean:
        return "-"
    spread = "" if deviation is None else f" ({deviation * SCALE:.1f})"
    return f"{mean * SCALE:.1f}{spread}"
