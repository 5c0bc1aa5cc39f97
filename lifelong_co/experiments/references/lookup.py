"""Looking up the reference costs of test instances."""

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
class Known:
    """The reference cost of an instance."""

    cost: float
    place: Path
    """The folder in which it was found."""


def references(
    places: Sequence[Path], problem: Problem, instances: Any, distribution: str = ""
) -> list[Known | None]:
    """Return the reference of each of ``B`` instances; None for an instance without one.

    The reference comes from the first folder that has one. In each folder, references found by
    `lifelong-co reference` come before those published for the test set of ``distribution``.
    """
    keys = keys_of(instances, problem)
    found: dict[str, Known] = {}
    for place in places:
        cache = Cache(place)
        for key in keys:
            if key not in found and (own := cache.get(problem.name, key)) is not None:
                found[key] = Known(own.cost, place)
        if distribution and any(key not in found for key in keys):
            others = stored(place, problem, distribution, problem.size(instances))
            published = {} if others is None else others.by_key(problem)
            for key in keys:
                if key not in found and key in published:
                    found[key] = Known(published[key], place)
    return [found.get(key) for key in keys]


def of_task(
    places: Places, task: Task, problem: Problem, tests: int, groups: Sequence[Any] | None = None
) -> list[Known | None]:
    """Return the reference of each test instance of a task; None for an instance without one.

    Parameters
    ----------
    places
        The folders in which to look.
    task, problem, tests
        The task, its problem and its number of test instances.
    groups
        The test instances of the task, if they are drawn already.

    Returns
    -------
    One entry for each instance, group after group; empty if there is no folder to look in.

    Raises
    ------
    FileFormatError
        If a file of references has errors.
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
    """Return the folders of some references, in the order in which they first occur."""
    return tuple(dict.fromkeys(each.place for each in known if each is not None))
