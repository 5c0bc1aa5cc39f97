"""Distances and optimality gaps of compared runs, where references are there."""

from collections.abc import Mapping
from pathlib import Path

import attrs

from lifelong_co import registry
from lifelong_co.config import Config
from lifelong_co.reference.gaps import mean_reference
from lifelong_co.report.comparison import Comparison
from lifelong_co.report.tables import Table, align, final_gaps
from lifelong_co.streams import testing

CAPTION = "Mean test cost after the last task, and gap to the references"


@attrs.frozen
class MeanReferences:
    """What a folder of references says about the tasks of a run."""

    folder: Path
    means: Mapping[str, float]
    """The mean reference cost of each task whose test instances all have one."""


def mean_references(config: Config, folder: Path) -> MeanReferences:
    """Return the mean references of a run's tasks."""
    problem = registry.problem(config.problem)
    means = {}
    for task in config.tasks:
        groups = testing(task, problem, config.tests)
        mean = mean_reference(folder, problem, groups, task.distribution)
        if mean:
            means[task.label] = mean
    return MeanReferences(folder, means)


def gap_table(comparison: Comparison, means: Mapping[str, float]) -> Table:
    """Return the references, then a row per group: cost after the last task, and gap to them.

    A group of several seeds is shown as their mean.
    """
    table = [["method", *means], ["reference", *(f"{mean:.4f}" for mean in means.values())]]
    for group in comparison.groups:
        found = final_gaps(group, means).values()
        table.append([group.label, *(f"{cost:.4f} ({gap:.2%})" for cost, gap in found)])
    return table


def as_text(comparison: Comparison, references: MeanReferences) -> str:
    """Return the table in plain text, or one line that says why there is none."""
    folder, means = references.folder, references.means
    if not means:
        return f"\nno gaps: {folder} has no task whose test instances all have a reference\n"
    return f"\n{CAPTION} in {folder}\n\n{align(gap_table(comparison, means), left=1)}\n"
