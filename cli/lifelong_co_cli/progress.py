"""The share of some work that is done, on a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def share_of_work(name: str) -> Iterator[Callable[[float], None] | None]:
    """Yield what shows the share of some work on a terminal; None elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
    console = Console(stderr=True)  # standard output holds the results
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        row = bar.add_task(name, total=1.0)
        yield lambda share: bar.update(row, completed=share)
