"""Tasks and the orders in which they arrive (paper, appendix "Task and Order Details")."""

from collections.abc import Callable
from pathlib import Path

import attrs

from lifelong_co.errors import ConfigError, UnknownNameError

ORDERS: dict[int, tuple[str, ...]] = {
    1: ("E", "C", "G", "U", "R", "GM"),
    2: ("U", "GM", "E", "R", "G", "C"),
    3: ("E", "G", "R", "C", "U", "GM"),
    4: ("G", "GM", "E", "U", "R", "C"),
    5: ("G", "C", "R", "U", "GM", "E"),
}
"""The paper's five task orders; its code calls G ``Grid`` and R ``Ring``."""


def at_least(least: int) -> "Callable[[object, attrs.Attribute[int], int], None]":
    """Return a validator that takes whole numbers from ``least`` on, and no booleans."""

    def check(instance: object, attribute: "attrs.Attribute[int]", value: int) -> None:  # noqa: ARG001
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ConfigError(
                f"{attribute.name}: expected a whole number of at least {least}, got {value!r}"
            )

    return check


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

    def __attrs_post_init__(self) -> None:
        if bool(self.distribution) == bool(self.files):
            raise ConfigError(
                "task: expected either a distribution or files, "
                f"got distribution={self.distribution!r} and files={self.files!r}"
            )
        if self.distribution and self.size < 2:
            raise ConfigError(f"task size: expected at least 2 nodes, got {self.size}")

    @property
    def label(self) -> str:
        """The name shown: the given one, or e.g. ``GM100``, or the files' stem."""
        if self.name:
            return self.name
        return f"{self.distribution}{self.size}" if self.distribution else Path(self.files).stem


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
