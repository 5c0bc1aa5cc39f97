"""A table as text, Markdown and CSV: pure functions of a `Sheet`."""

import csv
import io
import textwrap
from collections.abc import Callable, Sequence

from lifelong_co.experiments.latex import latex
from lifelong_co.experiments.sheet import Cell, Sheet

NOTHING = "-"
"""What a cell without a number shows."""


def text(sheet: Sheet) -> str:
    """Return title, table and note in columns of fixed width; ``*`` marks what is best."""
    best = sheet.best()
    starred = {j for _, j in best}
    rows = [list(sheet.columns)]
    for i, row in enumerate(sheet.rows):
        # Where some cell of a column has a star the others have room for one.
        marks = [("*" if (i, j) in best else " ") if j in starred else "" for j in range(len(row))]
        rows.append([cell.shown + mark for cell, mark in zip(row, marks, strict=True)])
    # Folders and options are named in notes, and are to be copied whole.
    said = textwrap.fill(sheet.notes, 100, break_on_hyphens=False, break_long_words=False)
    notes = [said, "* the best of its " + sheet.best_of if best else ""]
    parts = [
        sheet.title,
        _aligned(rows, sheet.left),
        "\n".join(note for note in notes if note),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def markdown(sheet: Sheet) -> str:
    """Return title, table and note; what is best is bold."""
    best = sheet.best()
    rows = [list(sheet.columns)]
    for i, row in enumerate(sheet.rows):
        rows.append(
            [f"**{cell.shown}**" if (i, j) in best else cell.shown for j, cell in enumerate(row)]
        )
    parts = [f"**{sheet.title}**" if sheet.title else "", _pipes(rows), sheet.notes]
    return "\n\n".join(part for part in parts if part) + "\n"


def as_csv(sheet: Sheet) -> str:
    """Return header and rows; each number that a cell shows has a column.

    Their names end in what they are, units included: ``AP_1e-3``, ``AP_std_orders_1e-3``.
    """
    suffixes = [_suffixes([row[j] for row in sheet.rows]) for j in range(len(sheet.header))]
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(
        f"{name}_{part}" if part else name
        for name, parts in zip(sheet.columns, suffixes, strict=True)
        for part in parts
    )
    for row in sheet.rows:
        # A cell without parts stands in the first of its columns; a dash becomes empty.
        cells = [cell.parts or {"": "" if cell.shown == NOTHING else cell.shown} for cell in row]
        writer.writerow(
            cell.get(part, "")
            for cell, parts in zip(cells, suffixes, strict=True)
            for part in parts
        )
    return lines.getvalue()


def _aligned(table: list[list[str]], left: int) -> str:
    """Return a table in columns of fixed width, the first ``left`` of them flush left."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in [table[0], ["-" * width for width in widths], *table[1:]]:
        cells = [
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _pipes(table: list[list[str]]) -> str:
    """Return a Markdown table, the first column to the left and the others to the right."""
    header, *rows = ([cell.replace("|", r"\|") for cell in row] for row in table)
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))


def _suffixes(column: Sequence[Cell]) -> list[str]:
    """Return how the CSV columns of a column end; empty for cells without parts."""
    parts = list(dict.fromkeys(part for cell in column for part in cell.parts))
    plain = any(not cell.parts and cell.shown != NOTHING for cell in column)
    return ["", *(part for part in parts if part)] if plain or "" in parts or not parts else parts


FORMATS: dict[str, tuple[str, Callable[[Sheet], str]]] = {
    "text": ("txt", text),
    "markdown": ("md", markdown),
    "latex": ("tex", latex),
    "csv": ("csv", as_csv),
}
"""Name to suffix of the file and function."""
