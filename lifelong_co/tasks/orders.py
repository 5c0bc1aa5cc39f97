"""Task orders by name: the paper's, for every problem, and those that plugins register for one."""

from collections.abc import Mapping
from typing import Any

from lifelong_co import registry
from lifelong_co.errors import UnknownNameError
from lifelong_co.tasks.task import ORDERS, order

Part = str | Mapping[str, Any]
"""A task of an order: a distribution, or a table with fields of `tasks.Task`."""


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
        return order(int(name))
    tables = registry.order(problem, str(name))
    if tables is None:
        valid = [*map(str, ORDERS), *registry.orders(problem)]
        raise UnknownNameError(f"order of problem {problem!r}", str(name), valid)
    return tuple(tables)
