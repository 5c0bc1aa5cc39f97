"""The logger ``csv``: one table with a row for each number, ready for pandas or a spreadsheet."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lifelong_co.runs.costs import as_csv
from lifelong_co.storage.csv_cells import no_formula
from lifelong_co.storage.files import write_whole

HEADER = ("learning", "epoch", "kind", "name", "value")

Row = tuple[int, int, str, str, float]


class CsvTable:
    """Writes ``metrics.csv`` to the run folder.

    ``kind`` is ``loss``, ``train`` (``cost`` and ``seconds`` of an epoch) or ``test`` (the mean
    cost on the task ``name``).

    Parameters
    ----------
    folder
        The run folder.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "metrics.csv"

    def start(self, epochs: Sequence[Mapping[str, Any]], tests: Sequence[Any]) -> None:
        """Write the table so far, in place of one that a killed run may have left incomplete."""
        rows = [row for entry in epochs for row in of_epoch(entry)]
        rows += [of_test(test) for test in tests]
        # In the order in which they came: an epoch, then its tests. The sort is stable.
        write_whole(self._path, as_csv([HEADER, *sorted(rows, key=lambda row: row[:2])]))

    def epoch(self, entry: Mapping[str, Any]) -> None:
        """Append the rows of an epoch."""
        self._append(of_epoch(entry))

    def tests(self, rows: Sequence[Any]) -> None:
        """Append the rows of tests."""
        self._append(map(of_test, rows))

    def close(self) -> None:
        """Do nothing: each call closes the file."""

    def _append(self, rows: Iterable[Row]) -> None:
        with self._path.open("a", encoding="utf-8", newline="") as file:
            file.write(as_csv(rows))


def of_epoch(entry: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the rows of an epoch."""
    place = entry["learning"], entry["epoch"]
    yield *place, "train", "cost", entry["train_cost"]
    yield *place, "train", "seconds", entry["seconds"]
    for name, value in entry["losses"].items():
        yield *place, "loss", name, value


def of_test(test: Any) -> Row:
    """Return the row of a test."""
    return test.learning, test.epoch, "test", no_formula(test.name), test.cost
