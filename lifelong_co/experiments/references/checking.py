"""Checks whether stored references fit their instances."""

from collections.abc import Iterable, Iterator

import attrs

from lifelong_co.experiments.references.cache import Cache
from lifelong_co.experiments.references.stored import Stored
from lifelong_co.experiments.references.subject import Subject, of_instances
from lifelong_co.protocols import Problem

# Tolerance: the published costs are sums in single precision.
ROUNDING = 2e-4


@attrs.frozen
class Fault:
    """A stored reference that is wrong."""

    name: str
    """Name of the instance; instances are numbered from 0."""
    reason: str
    """What is wrong."""


def check_stored(found: Stored, problem: Problem, name: str, cache: Cache) -> Iterator[Fault]:
    """Yield the faults of published references.

    Published solutions are checked. A cost without a solution is a fault if it is below a proven
    optimum in the cache.
    """
    for b, subject in enumerate(of_instances(found.instances, problem, name)[: len(found.costs)]):
        stated = found.costs[b]
        if found.solutions is None:
            known = cache.get(subject.problem, subject.key)
            if known is not None and known.proven and stated < known.cost - ROUNDING:
                yield Fault(subject.name, f"costs {stated:.6f}, below the proven {known.cost:.6f}")
            continue
        if fault := subject.fault(found.solutions[b]):
            yield Fault(subject.name, f"infeasible: {fault}")
        elif abs((actual := subject.cost(found.solutions[b])) - stated) > ROUNDING:
            yield Fault(subject.name, f"costs {actual:.6f}, not {stated:.6f} as stated")


def check_cached(subjects: Iterable[Subject], cache: Cache) -> Iterator[Fault]:
    """Yield the faults of the references in a cache."""
    for subject in subjects:
        reference = cache.get(subject.problem, subject.key)
        if reference is None:
            continue
        if fault := subject.fault(reference.actions):
            yield Fault(subject.name, f"infeasible: {fault}")
        elif abs(subject.cost(reference.actions) - reference.cost) > 1e-6 * max(1, reference.cost):
            yield Fault(subject.name, f"does not cost {reference.cost:.6f} as stated")
