"""Task orders by name: the paper's, for every problem, and those that plugins register for one."""

from collections.abc import Mapping
from typing import Any

from lifelong_co import registry
from lifelong_co.errors import UnknownNameError

ORDERS: dict[int, tuple[str, ...]] = {
    1: ("E", "C", "G", "U", "R", "GM"),
    2: ("U", "GM", "E", "R", "G", "C"),
    3: ("E", "G", "R", "C", "U", "GM"),
    4: ("G", "GM", "E", "U", "R", "C"),
    5: ("G", "C", "R", "U", "GM", "E"),
}
"""The paper's five task orders; its code calls G ``Grid`` and R ``Ring``."""

Part = str | Mapping[str, Any]
"""A task of an order: a distribution, or a table with fields of `tasks.Task`."""


def paper_order(number: int) -> tuple[str, ...]:
    """Return the distributions of one of the paper's orders.

    Raises
    ------
    UnknownNameError
        If the paper has no order of this number.
    """
    if number not in ORDERS:
        raise UnknownNameError("task order", str(number), [str(known) for known in ORDERS])
    return ORDERS[number]


def named_order(name: str | int, problem: str) -> tuple[Part, ...]:
    """Return the tasks of an order: one of the paper's, by its number, or one of the problem's.

    Raises
    ------
    UnknownNameError
        If the problem has no order of this name, or the paper none of this number.
    PluginError
        If two plugins own a name.
    """
    if str(name).isdecimal():
        return paper_order(int(name))
    tables = registry.order(problem, str(name))
    if tables is None:
        valid = [*map(str, ORDERS), *registry.orders(problem)]
        raise UnknownNameError(f"order of problem {problem!r}", str(name), valid)
    return tuple(tables)
