"""Test costs beside references: which instances have one, and how far above it a solver is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs

from lifelong_co import records
from lifelong_co.protocols import Problem
from lifelong_co.reference.cache import Cache
from lifelong_co.reference.stored import stored
from lifelong_co.reference.subject import keys_of


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


def references(
    folder: Path, problem: Problem, instances: Any, distribution: str = ""
) -> list[float | None]:
    """Return the reference cost of each of ``B`` instances, None where there is none.

    What was solved here comes first, then what the folder has stored of others' for the test set
    of the ``distribution``.
    """
    cache = Cache(folder)
    keys = keys_of(instances, problem)
    own = [cache.get(problem.name, key) for key in keys]
    if distribution and any(reference is None for reference in own):
        others = stored(folder, problem, distribution)
        published = {} if others is None else others.by_key(problem)
    else:
        published = {}
    return [
        published.get(key) if reference is None else reference.cost
        for key, reference in zip(keys, own, strict=True)
    ]


def gap(costs: Sequence[float], known: Sequence[float | None]) -> Gap | None:
    """Return the gap of costs to references; None if no instance has one above 0."""
    pairs = [(c, r) for c, r in zip(costs, known, strict=True) if r is not None]
    total = sum(r for _, r in pairs)
    if total <= 0:
        return None
    value = sum(c for c, _ in pairs) / total - 1
    return Gap(value, total / len(pairs), len(pairs), len(costs))


def mean_reference(
    folder: Path, problem: Problem, groups: Sequence[Any], distribution: str = ""
) -> float | None:
    """Return the mean reference over groups of instances; None unless every one has one."""
    total, count = 0.0, 0
    for group in groups:
        for cost in references(folder, problem, group, distribution):
            if cost is None:
                return None
            total += cost
        count += records.rows(group)
    return total / count if count else None
