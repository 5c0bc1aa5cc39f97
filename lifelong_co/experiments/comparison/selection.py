"""Which tasks a page shows, if a run has too many to show each of them."""

from collections.abc import Sequence

MANY = 24
"""With more tasks than this, tables and panels show some of them."""
MARKS = 12
"""The most tasks that are named along an axis or in a table, if there are many."""

LISTED = 300
"""The most tasks in the list of tasks with their settings."""


def shown(k: int, most: int = MANY) -> list[int]:
    """Return the numbers of at most ``most`` of ``k`` tasks, from 0: evenly spaced, both ends too.

    All of them if there are at most `MANY`, or at most ``most``.
    """
    if k <= max(MANY, most):
        return list(range(k))
    return [round(i * (k - 1) / (most - 1)) for i in range(most)]


def sequence(names: Sequence[str]) -> str:
    """Return the names of tasks in their order; of many, the first and the last three."""
    left_out = len(names) - 6
    if len(names) <= MANY:
        return " → ".join(names)
    return " → ".join([*names[:3], f"… ({left_out} more)", *names[-3:]])
