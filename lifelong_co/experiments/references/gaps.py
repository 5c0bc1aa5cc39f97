"""Optimality gaps of costs to references (paper, appendix D).

A gap is a plain fraction; tables show it in per cent.
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
from lifelong_co.runs.data_files import Digests, changed_tests


def gap(cost: float, reference: float) -> float:
    """Return the gap ``cost / reference - 1`` of a cost, or of a sum or mean of costs.

    The reference must be above 0.
    """
    return cost / reference - 1


def gaps(costs: Mapping[str, float], means: Mapping[str, float]) -> dict[str, float]:
    """Return the gap on each task that has a mean reference, in the order of ``means``."""
    return {task: gap(costs[task], mean) for task, mean in means.items()}


@attrs.frozen
class Gap:
    """The gap of costs to references, over the instances that have a reference."""

    value: float
    """Mean cost over mean reference, minus 1."""
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
    """Return the gap of costs to references; None if no instance has a reference above 0."""
    if not known:
        return None
    pairs = [(c, r.cost) for c, r in zip(costs, known, strict=True) if r is not None]
    total = sum(r for _, r in pairs)
    if total <= 0:
        return None
    return Gap(gap(sum(c for c, _ in pairs), total), total / len(pairs), len(pairs), len(costs))


def mean_reference(known: Sequence[Known | None]) -> float | None:
    """Return the mean of references; None if there are no instances or one has no reference."""
    costs = [each.cost for each in known if each is not None]
    return math.fsum(costs) / len(costs) if costs and len(costs) == len(known) else None


@attrs.frozen
class MeanReferences:
    """The mean reference costs of the tasks of a run."""

    places: Places
    """The folders in which references were looked for."""
    means: Mapping[str, float]
    """The mean reference cost of each task whose test instances all have a reference."""
    folders: Mapping[str, tuple[Path, ...]]
    """The folders in which the references of each of these tasks were found."""
    costs: Mapping[str, tuple[float, ...]] = attrs.field(factory=dict)
    """The reference cost of each test instance of each of these tasks."""
    faults: Mapping[str, str] = attrs.field(factory=dict)
    """For each task whose references cannot be used: the reason."""

    @property
    def origin(self) -> str:
        """The folders that were used, e.g. ``in references for U20; in testsets for E50, C100``."""
        alike: dict[str, list[str]] = {}
        for task, folders in self.folders.items():
            alike.setdefault(self.places.named(folders), []).append(task)
        if len(alike) == 1:
            return f"in {next(iter(alike))}"
        return "; ".join(f"in {shown} for {', '.join(tasks)}" for shown, tasks in alike.items())

    @property
    def notes(self) -> list[str]:
        """One line for each task whose references cannot be used."""
        return [f"no gap on {task}: {fault}" for task, fault in self.faults.items()]


def mean_references(
    config: Config,
    places: Places,
    tests: Sequence[Sequence[Any]] | None = None,
    held: Digests | None = None,
) -> MeanReferences:
    """Return the mean references of a run's tasks.

    A task whose references cannot be read, or whose test files have another content than the run
    knows of, is in `MeanReferences.faults` instead.

    Parameters
    ----------
    config
        The configuration of the run.
    places
        The folders in which to look.
    tests
        The test instances of each task, if they are drawn already.
    held
        What the run knows of its files; None if these were compared already.
    """
    means: dict[str, float] = {}
    folders: dict[str, tuple[Path, ...]] = {}
    costs: dict[str, tuple[float, ...]] = {}
    faults: dict[str, str] = {}
    for index, task in enumerate(config.tasks):
        groups = None if tests is None else tests[index]
        try:  # the problem of a plugin that is not installed has none
            problem = registry.problem(config.problem)
            known = of_task(places, task, problem, config.tests, groups)
            changed = changed_tests(held or {}, config, [task.label]) if known else ()
        except LifelongError as error:
            faults[task.label] = str(error)
            continue
        if fault := next(iter(changed), ""):
            faults[task.label] = fault
            continue
        mean = mean_reference(known)
        if mean:
            means[task.label], folders[task.label] = mean, origins(known)
            costs[task.label] = tuple(each.cost for each in known if each is not None)
    return MeanReferences(places, means, folders, costs, faults)
