"""A table: what it shows, what a program reads of it, and what is best in it."""

from collections.abc import Mapping, Sequence
from typing import Literal

import attrs


@attrs.frozen
class Cell:
    """What stands in one place of a table."""

    shown: str
    parts: Mapping[str, str] = attrs.field(factory=dict)
    """What CSV has instead: how its column's name ends, e.g. ``std_1e-3``, to its text."""
    rank: float | None = None
    """What is compared, smaller is better, as precise as it is shown; None: nothing."""
    marked: bool = False
    """Whether a page shades it."""


Row = tuple[Cell, ...]

SCALE = 1e3
"""Metrics are shown in 10⁻³, as in the paper's tables."""

THOUSANDTHS = "1e-3"
"""How columns of CSV in 10⁻³ end."""


@attrs.frozen(kw_only=True)
class Sheet:
    """A table with its title and note."""

    key: str
    """Name of its files."""
    title: str
    header: tuple[str, ...]
    blocks: tuple[tuple[Row, ...], ...]
    """Rows, in blocks with a rule between them; every row as long as the header."""
    spans: tuple[tuple[str, int], ...] = ()
    """What stands above how many columns; empty: nothing."""
    note: str = ""
    common: str = ""
    """What several tables have to say; a page says it once."""
    left: int = 1
    """How many columns of words stand to the left of the numbers."""
    best_of: Literal["column", "row", "none"] = "column"
    """Where the best is looked for: in each column of a block, or in each row."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows."""
        return tuple(row for block in self.blocks for row in block)

    @property
    def columns(self) -> tuple[str, ...]:
        """The header in one row: what stands above a column comes before its name."""
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
        """Everything said below it."""
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
