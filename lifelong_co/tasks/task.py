"""Tasks and the orders in which they arrive (paper, appendix "Task and Order Details")."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.problems.distances import EUCLIDEAN, exponent
from lifelong_co.validators import at_least

ORDERS: dict[int, tuple[str, ...]] = {
    1: ("E", "C", "G", "U", "R", "GM"),
    2: ("U", "GM", "E", "R", "G", "C"),
    3: ("E", "G", "R", "C", "U", "GM"),
    4: ("G", "GM", "E", "U", "R", "C"),
    5: ("G", "C", "R", "U", "GM", "E"),
}
"""The paper's five task orders; its code calls G ``Grid`` and R ``Ring``."""


def _known(instance: object, attribute: "attrs.Attribute[str]", value: str) -> None:  # noqa: ARG001
    exponent(value)


@attrs.frozen(kw_only=True)
class Task:
    """A distribution (or files) and a size, with a training budget.

    Parameters
    ----------
    distribution
        A registered name, or empty when the instances come from ``files``.
    size
        ``n``; 0 when the files decide.
    epochs, batches, batch_size
        The budget: ``epochs * batches`` steps on ``batch_size`` instances each.
    name
        How tables and figures call it; distribution and size when empty.
    capacity
        Vehicle capacity that demands are fractions of; the official rule when None.
    variant
        ``official`` or ``paper``: whose definition of the distribution.
    files
        A ``.npz`` file or a folder of TSPLIB/CVRPLIB files to train on.
    test_files
        The same for testing; the training files when empty.
    distance
        ``euclidean``, ``manhattan`` or ``chebyshev``: what the length of a leg is.
    drift_from
        Where its training batches gradually come from (`drift`): a distribution, or a distribution
        and a distance, e.g. ``U manhattan``. Empty: the task does not drift.
    """

    distribution: str = ""
    size: int = attrs.field(default=0, validator=at_least(0))
    epochs: int = attrs.field(validator=at_least(1))
    batches: int = attrs.field(validator=at_least(1))
    batch_size: int = attrs.field(validator=at_least(1))
    name: str = ""
    capacity: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(at_least(1))
    )
    variant: str = "official"
    files: str = ""
    test_files: str = ""
    distance: str = attrs.field(default=EUCLIDEAN, validator=_known)
    drift_from: str = ""

    def __attrs_post_init__(self) -> None:
        if bool(self.distribution) == bool(self.files):
            raise ConfigError(
                "task: expected either a distribution or files, "
                f"got distribution={self.distribution!r} and files={self.files!r}"
            )
        if self.distribution and self.size < 2:
            raise ConfigError(f"task size: expected at least 2 nodes, got {self.size}")
        if self.drift_from and self.size < 2:
            raise ConfigError(
                "task drift_from: expected a size beside it, as instances of several sizes make no"
                f" batch, got files={self.files!r} without one"
            )
        if self.drift_from:
            _ = self.former  # its distance may be unknown

    @property
    def label(self) -> str:
        """The name shown: the given one, or e.g. ``GM100``, or the files' stem."""
        if self.name:
            return self.name
        label = f"{self.distribution}{self.size}" if self.distribution else Path(self.files).stem
        return label if self.distance == EUCLIDEAN else f"{label} {self.distance}"

    @property
    def former(self) -> "Task":
        """What a task drifts from: another distribution or distance; all else is the task's."""
        distribution, _, distance = self.drift_from.partition(" ")
        return attrs.evolve(
            self,
            name=self.label,
            distribution=distribution,
            files="",
            test_files="",
            distance=distance or self.distance,
            drift_from="",
        )

    @property
    def tested(self) -> dict[str, Any]:
        """What decides the test instances and their costs, in words."""
        return {
            "distribution": self.distribution or "none",
            "size": self.size,
            "capacity": self.capacity or "the official rule",
            "variant": self.variant,
            "test files": self.test_files or self.files or "none",
            "distance": self.distance,
        }


def order(number: int) -> tuple[str, ...]:
    """Return the distributions of one of the paper's orders.

    Raises
    ------
    UnknownNameError
        If there is no such order.
    """
    if number not in ORDERS:
        raise UnknownNameError("task order", str(number), [str(known) for known in ORDERS])
    return ORDERS[number]


def unique_labels(tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    """Name tasks so that no two share a label: a task that returns is ``U20 (2)``."""
    taken: set[str] = set()
    named = []
    for task in tasks:
        label, count = task.label, 1
        while label in taken:
            count += 1
            label = f"{task.label} ({count})"
        taken.add(label)
        named.append(attrs.evolve(task, name=label) if count > 1 else task)
    return tuple(named)


def drifting(tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    """Return the tasks, each but the first drifting from the one before it.

    A task that says itself what it drifts from keeps that; one of the same distribution and
    distance as the one before has nothing to drift from. The variant and the capacity of the one
    before do not count: the former distribution is taken with the task's own.

    Raises
    ------
    ConfigError
        If a task is to drift from one of files.
    """
    found = list(tasks[:1])
    for before, task in pairwise(tasks):
        if not (task.drift_from or before.distribution):
            raise ConfigError(
                f"drift: task {task.label}: expected a distribution before it to drift from, "
                f"got {before.label}, which is of files"
            )
        source = before.distribution
        if before.distance != task.distance:
            source += f" {before.distance}"
        unlike = source != task.distribution
        found.append(attrs.evolve(task, drift_from=task.drift_from or (source if unlike else "")))
    return tuple(found)
