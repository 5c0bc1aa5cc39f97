"""Tables: the text of each cell, the numbers for CSV, and the best values."""

from collections.abc import Mapping, Sequence
from typing import Literal

import attrs


@attrs.frozen
class Cell:
    """A cell of a table."""

    shown: str
    """The text of the cell."""
    parts: Mapping[str, str] = attrs.field(factory=dict)
    """The texts in CSV, by the ending of the column's name, e.g. ``std_1e-3``."""
    rank: float | None = None
    """The value that is compared, rounded as shown; lower is better. None: not compared."""
    marked: bool = False
    """Whether the page shades the cell."""


Row = tuple[Cell, ...]

SCALE = 1e3
"""Metrics are shown in 10⁻³, as in the paper's tables."""

THOUSANDTHS = "1e-3"
"""Ending of the names of CSV columns in 10⁻³."""


@attrs.frozen(kw_only=True)
class Sheet:
    """A table with its title and note."""

    key: str
    """Name of its files."""
    title: str
    header: tuple[str, ...]
    blocks: tuple[tuple[Row, ...], ...]
    """Rows, in blocks with a line between them; every row is as long as the header."""
    spans: tuple[tuple[str, int], ...] = ()
    """Titles above the header, each with its number of columns; empty: no titles."""
    note: str = ""
    """The text below the table."""
    common: str = ""
    """A note that several tables share; a page shows it once."""
    left: int = 1
    """Number of columns with words, to the left of the numbers."""
    best_of: Literal["column", "row", "none"] = "column"
    """The cells that are compared: those of each column of a block, or those of each row."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows."""
        return tuple(row for block in self.blocks for row in block)

    @property
    def columns(self) -> tuple[str, ...]:
        """The header in one row: a title above a column comes before the column's name."""
        above = [title for title, count in self.spans for _ in range(count)]
        if not above:
            return self.header
        return tuple(f"{a} {b}".strip() for a, b in zip(above, self.header, strict=True))

    @property
    def shown(self) -> list[list[str]]:
        """The header in one row, then the rows, as plain strings."""
        return [list(self.columns), *([cell.shown for cell in row] for row in self.rows)]

    @property
    def notes(self) -> str:
        """All text below the table."""
        return " ".join(text for text in (self.note, self.common) if text)

    def best(self) -> frozenset[tuple[int, int]]:
        """Return row and column of each cell that is the best of several, ties included."""
        found: list[tuple[int, int]] = []
        first = 0
        for block in self.blocks:
            places = [(first + i, j) for i in range(len(block)) for j in range(len(self.header))]
            key = {"column": 1, "row": 0, "none": None}[self.best_of]
            if key is not None:
                for line in {place[key] for place in places}:
                    found += self._least([place for place in places if place[key] == line])
            first += len(block)
        return frozenset(found)

    def _least(self, places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        ranks = {place: self.rows[place[0]][place[1]].rank for place in places}
        known = {place: rank for place, rank in ranks.items() if rank is not None}
        if len(known) < 2:
            return []
        return [place for place, rank in known.items() if rank == min(known.values())]


def words(*texts: str) -> Row:
    """Return cells of plain words."""
    return tuple(Cell(text) for text in texts)
