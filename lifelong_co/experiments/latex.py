"""A table in LaTeX, with the packages booktabs and graphicx."""

import re

from lifelong_co.experiments.sheet import Sheet

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
"""Number of characters, gaps included, that fit a line of LaTeX's class ``article``."""
PACKAGES = {
    r"\toprule": r"\usepackage{booktabs}",
    r"\resizebox": r"\usepackage{graphicx}",
    r"\textquotedbl": r"\usepackage[T1]{fontenc}",
}
"""Command that needs a package, to the line that loads the package."""

_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)))
_MINUS = re.compile(r"(?<![^\s(])-(?=\d)")
"""The sign of a number; the hyphen of a name is another character."""


def latex(sheet: Sheet) -> str:
    """Return a floating table; a wide one is scaled to the page, and the best values are bold.

    The first line names the packages it needs.
    """
    best = sheet.best()
    scaled = _width(sheet) > FITS
    caption = f"{sheet.title}. {sheet.notes}".rstrip()
    lines = [
        r"\begin{table}[htbp]",
        r"\centering",
        rf"\caption{{{escape(caption)}}}",
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
            shown = [_MINUS.sub("$-$", escape(cell.shown)) for cell in row]
            cells = [
                rf"\textbf{{{each}}}" if (number, j) in best else each
                for j, each in enumerate(shown)
            ]
            # After the end of a row, LaTeX takes [...] as a length and * as an option.
            guard = "{}" if cells[0].lstrip().startswith(("[", "*")) else ""
            lines.append(guard + " & ".join(cells) + r" \\")
            number += 1
    lines += [r"\bottomrule", r"\end{tabular}" + "}" * scaled, r"\end{table}"]
    made = "\n".join(lines) + "\n"
    return (
        "% needs " + " ".join(uses for sign, uses in PACKAGES.items() if sign in made) + "\n" + made
    )


def escape(plain: str) -> str:
    """Return text in which LaTeX commands and special characters are escaped."""
    return _SPECIAL.sub(lambda match: _LATEX[match[0]], plain)


def _width(sheet: Sheet) -> int:
    """Return the approximate width of a table in characters, with two between columns."""
    rows = [sheet.header, *([cell.shown for cell in row] for row in sheet.rows)]
    widths = [2 + max(map(len, column)) for column in zip(*rows, strict=True)]
    total, first = sum(widths), 0
    for title, count in sheet.spans:  # a title wider than its columns widens them
        total += max(0, len(title) + 2 - sum(widths[first : first + count]))
        first += count
    return total


def _rules(spans: tuple[tuple[str, int], ...]) -> list[str]:
    """Return the short rules below the titles that span several columns."""
    rules, first = [], 1
    for title, count in spans:
        if title:
            rules.append(rf"\cmidrule(lr){{{first}-{first + count - 1}}}")
        first += count
    return rules
