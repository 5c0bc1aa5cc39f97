"""The costs of a run: the rows of ``costs.csv``, and which tests a run takes."""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.config.run_config import Config
from lifelong_co.config.settings import ALL, NEXT
from lifelong_co.errors import FileFormatError
from lifelong_co.storage.appended import checked
from lifelong_co.storage.csv_cells import no_formula

HEADER = ("learning", "epoch", "tested", "name", "cost")


@attrs.frozen
class Cost:
    """One test on one task, during or after learning a task; a row of ``costs.csv``."""

    learning: int
    """Number of the task that is learned, from 1."""
    epoch: int
    """Finished epochs of the task that is learned."""
    tested: int
    """Number of the task that is tested, from 1."""
    name: str
    """Name of the task that is tested."""
    cost: float
    """Mean cost over the test instances."""


def as_csv(rows: Iterable[tuple[Any, ...]]) -> str:
    """Return rows as lines of CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def as_lines(costs: Iterable[Cost]) -> str:
    """Return costs as lines of ``costs.csv``; a cost is read back to the same bits."""
    return as_csv(
        (row.learning, row.epoch, row.tested, no_formula(row.name), repr(row.cost)) for row in costs
    )


def read_costs(file: Path, names: Sequence[str]) -> Iterator[Cost]:
    """Yield the rows of the ``costs.csv`` of a run whose tasks have these names, in their order.

    Raises
    ------
    FileFormatError
        If the file does not have its checksum, a line is no row, a row is of another task than
        the configuration has there, or a test is there twice; the message names the line.
    OSError
        If the file cannot be read.
    """
    found: set[tuple[int, int, int]] = set()
    for line, cost in parse(checked(file), file):
        test = cost.learning, cost.epoch, cost.tested
        reason = "this test is in the file already" if test in found else _misplaced(cost, names)
        if reason:
            raise FileFormatError(f"{file}, line {line}: {reason}")
        found.add(test)
        yield attrs.evolve(cost, name=names[cost.tested - 1])


def _misplaced(cost: Cost, names: Sequence[str]) -> str:
    """Return why a row is not of the tasks with these names; empty if it is."""
    if not (1 <= cost.learning <= len(names) and 1 <= cost.tested <= len(names)):
        return (
            f"expected tasks from 1 to {len(names)}, got learning {cost.learning} and"
            f" tested {cost.tested}"
        )
    name = names[cost.tested - 1]
    # Earlier versions wrote names that look like formulas without an apostrophe.
    if cost.name not in (name, no_formula(name)):
        return f"task {cost.tested} is {name!r} in config.toml, got {cost.name!r}"
    return ""


def parse(text: str, file: Path) -> Iterator[tuple[int, Cost]]:
    """Yield the rows in the text of a ``costs.csv`` with the numbers of their lines.

    Raises
    ------
    FileFormatError
        If a line is no row; the message names the file and the line.
    """
    reader = csv.reader(io.StringIO(text, newline=""))

    def rows() -> Iterator[list[str]]:
        try:
            yield from reader
        except csv.Error as error:
            raise FileFormatError(f"{file}, line {reader.line_num}: no CSV ({error})") from error

    header = next(rows(), [])
    if tuple(header) != HEADER:
        raise FileFormatError(
            f"{file}, line 1: expected the header {','.join(HEADER)}, got {','.join(header)}"
        )
    for row in rows():
        try:
            learning, epoch, tested, name, cost = row
            found = Cost(int(learning), int(epoch), int(tested), name, float(cost))
        except ValueError:
            found = Cost(0, 0, 0, "", math.nan)
        if not (math.isfinite(found.cost) and found.cost > 0):
            raise FileFormatError(
                f"{file}, line {reader.line_num}: expected learning, epoch, tested, name and a"
                f" positive cost, got {','.join(row)!r}"
            )
        yield reader.line_num, found


def due(config: Config, task: int, finished: bool = True, restarts: bool = False) -> range:
    """Return the tasks that are tested after learning a task, or if not ``finished`` during it.

    Tasks are counted from 0. The tests during a task give the forgetting curve of the tasks learned
    so far. A method that restarts has no such curve.
    """
    if not finished:
        return range(task if restarts or config.tests_after == NEXT else 0, task + 1)
    k = len(config.tasks)
    return range(k) if config.tests_after == ALL or task == k - 1 else range(task, task + 2)
