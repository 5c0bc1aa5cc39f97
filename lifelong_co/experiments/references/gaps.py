"""Test costs beside references: which instances have one, and how far above it a solver is."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.experiments.references.cache import Cache
from lifelong_co.experiments.references.places import Places
from lifelong_co.experiments.references.stored import stored
from lifelong_co.experiments.references.subject import keys_of
from lifelong_co.protocols import Problem
from lifelong_co.tasks.instances import testing
from lifelong_co.tasks.task import Task


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


@attrs.frozen
class Known:
    """The reference cost of an instance."""

    cost: float
    place: Path
    """The folder that it was found in."""


def references(
    places: Sequence[Path], problem: Problem, instances: Any, distribution: str = ""
) -> list[Known | None]:
    """Return the reference of each of ``B`` instances, None where there is none.

    The first folder that has one counts. In each what was solved here comes first, then what it has
    stored of others' for the test set of the ``distribution``.
    """
    keys = keys_of(instances, problem)
    found: dict[str, Known] = {}
    for place in places:
        cache = Cache(place)
        for key in keys:
            if key not in found and (own := cache.get(problem.name, key)) is not None:
                found[key] = Known(own.cost, place)
        if distribution and any(key not in found for key in keys):
            others = stored(place, problem, distribution)
            published = {} if others is None else others.by_key(problem)
            for key in keys:
                if key not in found and key in published:
                    found[key] = Known(published[key], place)
    return [found.get(key) for key in keys]


def of_task(
    places: Places, task: Task, problem: Problem, tests: int, groups: Sequence[Any] | None = None
) -> list[Known | None]:
    """Return the reference of each instance that a task is tested on, None where there is none.

    Parameters
    ----------
    places
        Where to look.
    task, problem, tests
        They decide what the task is tested on.
    groups
        Its test instances, where they have been drawn already.

    Returns
    -------
    One for each instance, group after group; empty where there is no folder to look in.

    Raises
    ------
    FileFormatError
        If a file of references cannot be understood.
    """
    folders = places.of(task, problem, tests)
    if not folders:
        return []
    batches = testing(task, problem, tests) if groups is None else groups
    return [
        known
        for batch in batches
        for known in references(folders, problem, batch, task.distribution)
    ]


def origins(known: Sequence[Known | None]) -> tuple[Path, ...]:
    """Return the folders that references were found in, in the order in which they first occur."""
    return tuple(dict.fromkeys(each.place for each in known if each is not None))


def gap(costs: Sequence[float], known: Sequence[Known | None]) -> Gap | None:
    """Return the gap of costs to references; None if no instance has one above 0."""
    if not known:
        return None
    pairs = [(c, r.cost) for c, r in zip(costs, known, strict=True) if r is not None]
    total = sum(r for _, r in pairs)
    if total <= 0:
        return None
    value = sum(c for c, _ in pairs) / total - 1
    return Gap(value, total / len(pairs), len(pairs), len(costs))


def mean_reference(known: Sequence[Known | None]) -> float | None:
    """Return the mean of references; None if there is none or an instance has none."""
    costs = [each.cost for each in known if each is not None]
    return math.fsum(costs) / len(costs) if costs and len(costs) == len(known) else None
