"""A table as text, Markdown, LaTeX and CSV: pure functions of a `Sheet`."""

import csv
import io
import re
import textwrap
from collections.abc import Callable, Sequence

from lifelong_co.experiments.comparison import tables
from lifelong_co.experiments.sheet import Cell, Sheet

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "±": r"$\pm$",
    "→": r"$\rightarrow$",
    "−": r"$-$",
    "–": "--",
    "×": r"$\times$",
    "α": r"$\alpha$",
    "⁻³": r"$^{-3}$",
    "§": r"\S{}",
    "`": "",
}
FITS = 66
"""Characters, gaps between columns included, that a line of LaTeX's ``article`` takes."""
PACKAGES = {
    r"\toprule": r"\usepackage{booktabs}",
    r"\resizebox": r"\usepackage{graphicx}",
    r"\textquotedbl": r"\usepackage[T1]{fontenc}",
}
"""Sign of a package to how it is loaded."""
NOTHING = "-"
"""What a cell without a number shows."""

_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)))


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
        tables.align(rows, left=sheet.left),
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
    parts = [f"**{sheet.title}**", tables.markdown(rows), sheet.notes]
    return "\n\n".join(part for part in parts if part) + "\n"


def latex(sheet: Sheet) -> str:
    """Return a floating table, if need be scaled to the page's width; what is best is bold.

    Its first line says which packages it needs.
    """
    best = sheet.best()
    scaled = _width(sheet) > FITS
    lines = [
        r"\begin{table}[htbp]",
        r"\centering",
        rf"\caption{{{escape(_sentence(sheet.title, sheet.notes))}}}",
        rf"\label{{tab:{sheet.key}}}",
        *([r"\setlength{\tabcolsep}{3pt}", r"\resizebox{\textwidth}{!}{%"] if scaled else []),
        rf"\begin{{tabular}}{{{'l' * sheet.left}{'r' * (len(sheet.header) - sheet.left)}}}",
        r"\toprule",
    ]
    if sheet.spans:
        above = [rf"\multicolumn{{{n}}}{{c}}{{{escape(title)}}}" for title, n in sheet.spans]
        lines.append(" & ".join(above) + r" \\")
        lines.append(" ".join(_rules(sheet.spans)))
    lines += [" & ".join(map(escape, sheet.header)) + r" \\", r"\midrule"]
    number = 0
    for k, block in enumerate(sheet.blocks):
        lines += [r"\midrule"] if k else []
        for row in block:
            cells = [
                rf"\textbf{{{escape(cell.shown)}}}" if (number, j) in best else escape(cell.shown)
                for j, cell in enumerate(row)
            ]
            lines.append(" & ".join(cells) + r" \\")
            number += 1
    lines += [r"\bottomrule", r"\end{tabular}" + "}" * scaled, r"\end{table}"]
    made = "\n".join(lines) + "\n"
    return (
        "% needs " + " ".join(uses for sign, uses in PACKAGES.items() if sign in made) + "\n" + made
    )


def as_csv(sheet: Sheet) -> str:
    """Return header and rows; what a cell shows in one is in columns of its own.

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
        # What has no numbers apart stands in the first of its columns; a dash is nothing there.
        told = [cell.parts or {"": "" if cell.shown == NOTHING else cell.shown} for cell in row]
        writer.writerow(
            cell.get(part, "") for cell, parts in zip(told, suffixes, strict=True) for part in parts
        )
    return lines.getvalue()


def escape(plain: str) -> str:
    """Return text that LaTeX sets as it stands."""
    return _SPECIAL.sub(lambda match: _LATEX[match[0]], plain)


def _suffixes(column: Sequence[Cell]) -> list[str]:
    """Return how the CSV columns of a column end; empty for what has no numbers apart."""
    parts = list(dict.fromkeys(part for cell in column for part in cell.parts))
    plain = any(not cell.parts and cell.shown != NOTHING for cell in column)
    return ["", *(part for part in parts if part)] if plain or "" in parts or not parts else parts


def _width(sheet: Sheet) -> int:
    """Return about how many characters wide a table is; between columns is room for two."""
    rows = [sheet.header, *([cell.shown for cell in row] for row in sheet.rows)]
    widths = [2 + max(map(len, column)) for column in zip(*rows, strict=True)]
    total, first = sum(widths), 0
    for title, count in sheet.spans:  # a title wider than its columns widens them
        total += max(0, len(title) + 2 - sum(widths[first : first + count]))
        first += count
    return total


def _sentence(title: str, note: str) -> str:
    return f"{title}. {note}" if note else f"{title}."


def _rules(spans: tuple[tuple[str, int], ...]) -> list[str]:
    """Return the short rules below what stands above several columns."""
    rules, first = [], 1
    for title, count in spans:
        if title:
            rules.append(rf"\cmidrule(lr){{{first}-{first + count - 1}}}")
        first += count
    return rules


FORMATS: dict[str, tuple[str, Callable[[Sheet], str]]] = {
    "text": ("txt", text),
    "markdown": ("md", markdown),
    "latex": ("tex", latex),
    "csv": ("csv", as_csv),
}
"""Name to suffix of the file and function."""
