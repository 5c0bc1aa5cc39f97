"""Distances and optimality gaps of compared runs, where references are there."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from lifelong_co import registry
from lifelong_co.config.run_config import Config
from lifelong_co.errors import LifelongError
from lifelong_co.experiments.comparison.comparison import Comparison
from lifelong_co.experiments.comparison.tables import Table, align, final_gaps
from lifelong_co.experiments.references.gaps import mean_reference, of_task, origins
from lifelong_co.experiments.references.places import Places

CAPTION = "Mean test cost after the last task, and gap to the references"


@attrs.frozen
class MeanReferences:
    """What is known of the tasks of a run."""

    places: Places
    """Where references were looked for."""
    means: Mapping[str, float]
    """The mean reference cost of each task whose test instances all have one."""
    folders: Mapping[str, tuple[Path, ...]]
    """Where those of each of these tasks were found."""
    faults: Mapping[str, str] = attrs.field(factory=dict)
    """Why those of a task could not be read."""

    @property
    def origin(self) -> str:
        """Which references were used, e.g. ``in references for U20; in testsets for E50, C100``."""
        alike: dict[str, list[str]] = {}
        for task, folders in self.folders.items():
            alike.setdefault(self.places.named(folders), []).append(task)
        if len(alike) == 1:
            return f"in {next(iter(alike))}"
        return "; ".join(f"in {shown} for {', '.join(tasks)}" for shown, tasks in alike.items())

    @property
    def notes(self) -> list[str]:
        """What could not be read, a sentence for each task."""
        return [f"no gap on {task}: {fault}" for task, fault in self.faults.items()]


def mean_references(config: Config, places: Places) -> MeanReferences:
    """Return the mean references of a run's tasks.

    What cannot be read is no reason to lose a report: it is named in it.
    """
    problem = registry.problem(config.problem)
    means: dict[str, float] = {}
    folders: dict[str, tuple[Path, ...]] = {}
    faults: dict[str, str] = {}
    for task in config.tasks:
        try:
            known = of_task(places, task, problem, config.tests)
        except LifelongError as error:
            faults[task.label] = str(error)
            continue
        mean = mean_reference(known)
        if mean:
            means[task.label], folders[task.label] = mean, origins(known)
    return MeanReferences(places, means, folders, faults)


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
    """Return the table in plain text and what could not be read; empty where there is neither."""
    means = references.means
    parts = []
    if means:
        table = align(gap_table(comparison, means), left=1)
        parts.append(f"\n{CAPTION} {references.origin}\n\n{table}\n")
    if references.notes:
        parts.append("\n" + lines(references.notes))
    return "".join(parts)


def lines(notes: Sequence[str]) -> str:
    """Return each note as a line of its own."""
    return "".join(f"{note}\n" for note in notes)
