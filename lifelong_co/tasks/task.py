"""A task: a distribution and a size, or files (paper, appendix "Task and Order Details")."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.problems.distances import EUCLIDEAN, exponent
from lifelong_co.registry.lookup import TESTS_OF
from lifelong_co.validators import at_least, boolean, converted_fields, printable


def _known(instance: object, attribute: "attrs.Attribute[str]", value: str) -> None:  # noqa: ARG001
    exponent(value)


def _listed(instance: object, attribute: "attrs.Attribute[Any]", value: tuple[str, ...]) -> None:
    if not isinstance(value, list | tuple):
        raise ConfigError(f"task attributes: expected a list of names, got {value!r}")
    for name in value:
        printable(instance, attribute, name)
        if not name or name != "".join(name.split()) or value.count(name) > 1:
            raise ConfigError(
                f"task attributes: expected different names without spaces, got {list(value)!r}"
            )


@attrs.frozen(kw_only=True, field_transformer=converted_fields)
class Task:
    """A distribution (or files) and a size, with a training budget.

    Parameters
    ----------
    distribution
        A registered name, or empty if the instances come from ``files``.
    size
        The number of nodes ``n``. For files, 0 means all their sizes.
    epochs, batches, batch_size
        The budget: ``epochs * batches`` steps on ``batch_size`` instances each.
    last_batch_size
        Instances of the last batch of every epoch, from 1 to ``batch_size``; None: ``batch_size``.
        The paper's 10,000 instances at ``n = 20`` are 156 batches of 64 and one of 16.
    name
        The name in tables and figures; empty: made of distribution and size.
    attributes
        What the problem's sampler draws besides, e.g. ``("time-windows", "open")``; each problem
        has other names, or none (`completion`).
    capacity
        The vehicle capacity; demands are fractions of it. None: the rule of the official code.
    variant
        Which definition of the distribution: that of the ``official`` code or of the ``paper``.
    files
        A ``.npz`` file or a folder of TSPLIB/CVRPLIB files to train on.
    test_files
        The same for testing; empty: the training files.
    scale
        Whether the coordinates of ``.npz`` files have any unit, such as meters: each instance is
        scaled into the unit square.
    distance
        The distance between two nodes: ``manhattan``, ``chebyshev`` or ``euclidean``, which leaves
        an ``.npz`` file the distance that it names.
    tests_of
        Which test instances of the paper: ``generator`` or ``published``. They differ for R of the
        CVRP: the published file has other demands than the official generator
        (`registry.testset`). ``published`` needs a task that is tested on the paper's instances.
    drift_from
        The distribution from which the first training batches come (`tasks.drift`), with a
        distance if it differs, for example ``U manhattan``. Empty: the task does not drift.

    Raises
    ------
    ConfigError, UnknownNameError
        If a value is invalid, or if not exactly one of ``distribution`` and ``files`` is given.
    """

    distribution: str = attrs.field(default="", validator=printable)
    size: int = attrs.field(default=0, validator=at_least(0))
    epochs: int = attrs.field(validator=at_least(1))
    batches: int = attrs.field(validator=at_least(1))
    batch_size: int = attrs.field(validator=at_least(1))
    last_batch_size: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(at_least(1))
    )
    name: str = attrs.field(default="", validator=printable)
    capacity: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(at_least(1))
    )
    variant: str = attrs.field(default="official", validator=printable)
    files: str = attrs.field(default="", validator=printable)
    test_files: str = attrs.field(default="", validator=printable)
    scale: bool = attrs.field(default=False, validator=boolean)
    distance: str = attrs.field(default=EUCLIDEAN, validator=_known)
    tests_of: str = "generator"
    drift_from: str = attrs.field(default="", validator=printable)
    attributes: tuple[str, ...] = attrs.field(default=(), validator=_listed)

    def __attrs_post_init__(self) -> None:
        if bool(self.distribution) == bool(self.files):
            raise ConfigError(
                "task: expected either a distribution or files, "
                f"got distribution={self.distribution!r} and files={self.files!r}"
            )
        if self.last_batch_size is not None and self.last_batch_size > self.batch_size:
            raise ConfigError(
                f"task last_batch_size: expected at most batch_size ({self.batch_size}), "
                f"got {self.last_batch_size}"
            )
        if self.tests_of not in TESTS_OF:
            raise UnknownNameError("tests_of", self.tests_of, TESTS_OF)
        if self.distribution and self.size < 2:
            raise ConfigError(f"task size: expected at least 2 nodes, got {self.size}")
        if self.test_files and not self.files:
            raise ConfigError(
                f"task test_files: expected files beside it, got {self.distribution!r}"
            )
        if self.scale and not self.files:
            raise ConfigError(f"task scale: expected files beside it, got {self.distribution!r}")
        if self.capacity and self.files and not self.drift_from:
            raise ConfigError(
                "task capacity: expected a distribution or drift_from beside it, because files have"
                f" their capacities, got files={self.files!r}"
            )
        if self.drift_from and self.size < 2:
            raise ConfigError(
                "task drift_from: expected a task with a size, because all instances of a batch"
                f" have one size, got files={self.files!r} without a size"
            )
        if self.attributes and not self.distribution:
            raise ConfigError(
                "task attributes: expected a task with a distribution, because files have them"
                f" already, got files={self.files!r}"
            )
        if self.drift_from:
            _ = self.former  # raises if its distance is unknown

    @property
    def label(self) -> str:
        """The name to show: `name` if given, else for example ``GM100`` or the file's stem."""
        if self.name:
            return self.name
        label = f"{self.distribution}{self.size}" if self.distribution else Path(self.files).stem
        distance = () if self.distance == EUCLIDEAN else (self.distance,)
        return " ".join((label, *self.attributes, *distance))

    @property
    def instances(self) -> int:
        """The number of training instances of an epoch."""
        return (self.batches - 1) * self.batch_size + self.batch_size_at(self.batches - 1)

    def batch_size_at(self, step: int) -> int:
        """Return the number of instances of the batch at a step of the budget, from 0."""
        last = (step + 1) % self.batches == 0
        return self.last_batch_size if last and self.last_batch_size else self.batch_size

    @property
    def former(self) -> "Task":
        """The task with the distribution and distance of `drift_from` instead of those it has."""
        distribution, _, distance = self.drift_from.partition(" ")
        return attrs.evolve(
            self,
            name=self.label,
            distribution=distribution,
            files="",
            test_files="",
            scale=False,
            distance=distance or self.distance,
            drift_from="",
        )

    @property
    def tested(self) -> dict[str, Any]:
        """All values on which the test instances and their costs depend, by name."""
        return {
            "distribution": self.distribution or "none",
            "size": self.size,
            "capacity": self.capacity or "the official rule",
            "variant": self.variant,
            "test files": self.test_files or self.files or "none",
            "scale": self.scale,
            "tests of": self.tests_of,
            "distance": self.distance,
            "attributes": " ".join(self.attributes) or "none",
        }


def unique_labels(tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    """Return the tasks with different labels: the second task ``U20`` becomes ``U20 (2)``."""
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
    """Return the tasks with drift: each except the first drifts from the task before it.

    A task whose `Task.drift_from` is given keeps it. A task with the same distribution and distance
    as the task before does not drift. The distribution before is drawn with the variant and the
    capacity of the task that drifts.

    Raises
    ------
    ConfigError
        If the task before has files and no distribution, or has other attributes.
    """
    found = list(tasks[:1])
    for before, task in pairwise(tasks):
        if not (task.drift_from or before.distribution):
            raise ConfigError(
                f"drift: task {task.label}: expected a task with a distribution before it, "
                f"got {before.label}, whose instances come from files"
            )
        if before.attributes != task.attributes:
            raise ConfigError(
                f"drift: task {task.label}: expected the attributes of the task before it,"
                f" got another set than {before.label}"
            )
        source = before.distribution
        if before.distance != task.distance:
            source += f" {before.distance}"
        unlike = source != task.distribution
        found.append(attrs.evolve(task, drift_from=task.drift_from or (source if unlike else "")))
    return tuple(found)
