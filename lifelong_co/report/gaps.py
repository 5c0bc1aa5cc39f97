"""Distances and optimality gaps of compared runs, where references are there."""

from pathlib import Path

from lifelong_co import registry
from lifelong_co.reference.gaps import mean_reference
from lifelong_co.report.comparison import Comparison
from lifelong_co.report.tables import Table, align
from lifelong_co.streams import testing


def mean_references(comparison: Comparison, folder: Path) -> dict[str, float]:
    """Return the mean reference cost of each task whose test instances all have one."""
    config = comparison.runs[0].config
    problem = registry.problem(config.problem)
    means = {}
    for task in config.tasks:
        groups = testing(task, problem, config.tests)
        mean = mean_reference(folder, problem, groups, task.distribution)
        if mean:
            means[task.label] = mean
    return means


def gap_table(comparison: Comparison, means: dict[str, float]) -> Table:
    """Return the references, then a row per group: cost after the last task, and gap to them.

    A group of several seeds is shown as their mean.
    """
    table = [["method", *means], ["reference", *(f"{mean:.4f}" for mean in means.values())]]
    for group in comparison.groups:
        final = dict(zip(group.runs[0].names, group.costs[-1], strict=True))
        cells = [
            f"{final[name]:.4f} ({final[name] / mean - 1:.2%})" for name, mean in means.items()
        ]
        table.append([group.label, *cells])
    return table


def as_text(comparison: Comparison, folder: Path) -> str:
    """Return the table in plain text, or one line that says why there is none."""
    means = mean_references(comparison, folder)
    if not means:
        return f"\nno gaps: {folder} has no task whose test instances all have a reference\n"
    title = f"Mean test cost after the last task, and gap to the references in {folder}"
    return f"\n{title}\n\n{align(gap_table(comparison, means), left=1)}\n"
