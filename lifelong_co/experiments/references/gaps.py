"""Optimality gaps: how far costs lie above references (paper, appendix D).

A gap is a plain fraction; it is shown in per cent.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from lifelong_co import registry
from lifelong_co.config.run_config import Config
from lifelong_co.errors import LifelongError
from lifelong_co.experiments.references.lookup import Known, of_task, origins
from lifelong_co.experiments.references.places import Places


def gap(cost: float, reference: float) -> float:
    """Return how far a cost, or a sum or mean of costs, lies above a reference above 0."""
    return cost / reference - 1


def gaps(costs: Mapping[str, float], means: Mapping[str, float]) -> dict[str, float]:
    """Return the gap on each task that has a mean reference, in the order of these."""
    return {task: gap(costs[task], mean) for task, mean in means.items()}


@attrs.frozen
class Gap:
    """How far costs lie above references, over the instances that have one."""

    value: float
    """Mean cost over mean reference, minus 1 (the paper's optimality gap)."""
    reference: float
    """The mean reference."""
    covered: int
    """Instances with a reference."""
    count: int
    """Instances tested."""

    def __str__(self) -> str:
        part = "" if self.covered == self.count else f" on {self.covered} of {self.count} instances"
        return f"gap {self.value:.2%}{part}"


def gap_of(costs: Sequence[float], known: Sequence[Known | None]) -> Gap | None:
    """Return the gap of costs to references; None if no instance has one above 0."""
    if not known:
        return None
    pairs = [(c, r.cost) for c, r in zip(costs, known, strict=True) if r is not None]
    total = sum(r for _, r in pairs)
    if total <= 0:
        return None
    return Gap(gap(sum(c for c, _ in pairs), total), total / len(pairs), len(pairs), len(costs))


def mean_reference(known: Sequence[Known | None]) -> float | None:
    """Return the mean of references; None if there is none or an instance has none."""
    costs = [each.cost for each in known if each is not None]
    return math.fsum(costs) / len(costs) if costs and len(costs) == len(known) else None


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


def mean_references(
    config: Config, places: Places, tests: Sequence[Sequence[Any]] | None = None
) -> MeanReferences:
    """Return the mean references of a run's tasks.

    A task whose references cannot be read has none here; `MeanReferences.faults` says why.

    Parameters
    ----------
    config, places
        The run, and where to look.
    tests
        The test instances of each task, where they are drawn already.
    """
    problem = registry.problem(config.problem)
    means: dict[str, float] = {}
    folders: dict[str, tuple[Path, ...]] = {}
    faults: dict[str, str] = {}
    for index, task in enumerate(config.tasks):
        groups = None if tests is None else tests[index]
        try:
            known = of_task(places, task, problem, config.tests, groups)
        except LifelongError as error:
            faults[task.label] = str(error)
            continue
        mean = mean_reference(known)
        if mean:
            means[task.label], folders[task.label] = mean, origins(known)
    return MeanReferences(places, means, folders, faults)
