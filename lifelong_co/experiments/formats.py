"""A table as text, Markdown and CSV."""

import csv
import io
import textwrap
from collections.abc import Callable, Sequence

from lifelong_co.experiments.latex import latex
from lifelong_co.experiments.sheet import Cell, Sheet
from lifelong_co.storage.csv_cells import as_words, escaped

WIDTH = 100
"""The most characters of a line of text."""
NOTHING = "-"
"""The text of a cell without a number."""


def text(sheet: Sheet) -> str:
    """Return title, table and note; columns have fixed width, ``*`` marks the best values.

    A table wider than `WIDTH` is broken into several ones, which repeat the columns with words.
    """
    best = sheet.best()
    starred = {j for _, j in best}
    rows = [list(map(escaped, sheet.columns))]
    for i, row in enumerate(sheet.rows):
        # If a cell of a column has a star, the other cells get a space.
        marks = [("*" if (i, j) in best else " ") if j in starred else "" for j in range(len(row))]
        rows.append([escaped(cell.shown) + mark for cell, mark in zip(row, marks, strict=True)])
    # Notes contain paths and options; a line break inside would make them hard to copy.
    said = textwrap.fill(sheet.notes, WIDTH, break_on_hyphens=False, break_long_words=False)
    notes = [said, f"* best value of its {sheet.best_of}" if best else ""]
    parts = [
        sheet.title,
        *(_aligned(part, sheet.left) for part in _narrow(rows, sheet.left)),
        "\n".join(note for note in notes if note),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def markdown(sheet: Sheet) -> str:
    """Return title, table and note; the best values are bold."""
    best = sheet.best()
    rows = [list(sheet.columns)]
    for i, row in enumerate(sheet.rows):
        rows.append(
            [f"**{cell.shown}**" if (i, j) in best else cell.shown for j, cell in enumerate(row)]
        )
    parts = [f"**{sheet.title}**" if sheet.title else "", _pipes(rows, sheet.left), sheet.notes]
    return "\n\n".join(part for part in parts if part) + "\n"


def as_csv(sheet: Sheet) -> str:
    """Return header and rows, with one column for each number of a cell.

    The column names end in the kind and the unit: ``AP_1e-3``, ``AP_std_orders_1e-3``.
    """
    suffixes = [_suffixes([row[j] for row in sheet.rows]) for j in range(len(sheet.header))]
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(
        as_words(f"{name}_{part}" if part else name)
        for name, parts in zip(sheet.columns, suffixes, strict=True)
        for part in parts
    )
    for row in sheet.rows:
        # A cell without parts goes to the first of its columns; a dash becomes an empty field.
        shown = ["" if cell.shown == NOTHING else as_words(cell.shown) for cell in row]
        cells = [cell.parts or {"": only} for cell, only in zip(row, shown, strict=True)]
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


def _narrow(table: list[list[str]], left: int) -> list[list[list[str]]]:
    """Return a table as tables of at most `WIDTH` characters; a wide column stays whole."""
    widths = [max(map(len, column)) + 2 for column in zip(*table, strict=True)]
    parts: list[list[int]] = [[]]
    room = WIDTH + 2 - sum(widths[:left])
    for j in range(left, len(widths)):
        if parts[-1] and sum(widths[i] for i in parts[-1]) + widths[j] > room:
            parts.append([])
        parts[-1].append(j)
    return [[[*row[:left], *(row[j] for j in part)] for row in table] for part in parts]


def _pipes(table: list[list[str]], left: int) -> str:
    """Return a Markdown table, the first ``left`` columns aligned left and the others right."""
    header, *rows = ([cell.replace("|", r"\|") for cell in row] for row in table)
    rule = ["---" if j < left else "---:" for j in range(len(header))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))


def _suffixes(column: Sequence[Cell]) -> list[str]:
    """Return the endings of the CSV columns of a column; empty for cells without parts."""
    parts = list(dict.fromkeys(part for cell in column for part in cell.parts))
    plain = any(not cell.parts and cell.shown != NOTHING for cell in column)
    return ["", *(part for part in parts if part)] if plain or "" in parts or not parts else parts


FORMATS: dict[str, tuple[str, Callable[[Sheet], str]]] = {
    "text": ("txt", text),
    "markdown": ("md", markdown),
    "latex": ("tex", latex),
    "csv": ("csv", as_csv),
}
"""Name of a form to its file suffix and its function."""
