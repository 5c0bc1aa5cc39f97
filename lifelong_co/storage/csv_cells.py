"""Words in CSV files and tables: no formulas for spreadsheets, no control characters."""

import re

from lifelong_co.errors import CONTROL

# A spreadsheet computes a cell that starts so, also after spaces.
FORMULA = re.compile(r"\s*[=+\-@]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


def no_formula(cell: str) -> str:
    """Return a cell of a CSV file that a spreadsheet shows and does not compute.

    A name that looks like a formula gets an apostrophe in front, as in a spreadsheet. Numbers stay.
    """
    return f"'{cell}" if FORMULA.match(cell) and not NUMBER.fullmatch(cell) else cell


def as_words(cell: str) -> str:
    """Return a cell of a CSV file without a formula and without control characters."""
    return no_formula(escaped(cell))


def escaped(text: str) -> str:
    r"""Return a text without control characters: a tab becomes ``\t``, an escape ``\x1b``."""
    return CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)
