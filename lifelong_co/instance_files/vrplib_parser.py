"""The text of a TSPLIB or CVRPLIB file: its header, and its sections as checked arrays.

The package vrplib parses the tables. It drops the node number at the start of each row and does
not count rows, so it accepts a file with missing, repeated or moved rows. This module reads and
checks the node numbers. It reads the sections whose numbers can stand in lines of any length, too
(`STREAMS`): vrplib needs lines of one length.
"""

import os
import warnings
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
from vrplib.parse import parse_vrplib

from lifelong_co.errors import FileFormatError

COST = r"(\d+(?:\.\d+)?)(?![\d.,]*(?:[eE][+-]?)?\d)(?!\s*(?:routes?|trucks?|vehicles?)\b)"
"""A cost in a comment, as a pattern: not the start of ``1,034`` or ``1e6``, nor ``5 routes``."""
FREE = ("NAME", "COMMENT")
"""The keywords of any text, in which vrplib would look for ``EOF`` and ``_SECTION``, too."""
STREAMS = ("EDGE_WEIGHT", "DEPOT")
"""The sections without rows: their numbers follow each other, in lines of any length."""


def refuse(path: str | os.PathLike[str], problem: str) -> FileFormatError:
    """Return the error that names the file and what is wrong with it."""
    return FileFormatError(f"{os.fspath(path)}: {problem}")


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the file's text; raise `FileFormatError` if it cannot be read or is not text."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise refuse(path, f"cannot be read ({error.strerror or error})") from error
    if b"\0" in content:
        raise refuse(path, "expected a text file, got binary data")
    # Old files have names in other encodings; this can damage only names and comments.
    return content.decode("utf-8-sig", errors="replace")


def warn_of_cut(path: str | os.PathLike[str], text: str) -> None:
    """Warn of a text without a line end, ``EOF`` or ``-1`` at its end: a number could be cut."""
    if not text.rstrip(" \t:\x1a").endswith(("EOF", "-1", "\n", "\r")):
        warnings.warn(
            f"{os.fspath(path)}: no line end or EOF after the last row; the file may be cut",
            stacklevel=3,
        )


@attrs.frozen
class Header:
    """The keywords of a file, and the node numbers of its sections."""

    path: str
    values: dict[str, str]
    """The text of each keyword (in capitals), e.g. ``{"DIMENSION": "101"}``."""
    comment: str
    """All comments, joined by line ends."""
    ids: dict[str, list[str]]
    """The first word of each row, by section (in capitals, without ``_SECTION``); all words of
    `STREAMS`."""
    tables: str
    """The text that vrplib parses: without `FREE` and `STREAMS`."""

    def value(self, keyword: str) -> str:
        """Return the text of a keyword; raise `FileFormatError` if it is missing."""
        if not self.values.get(keyword):
            raise refuse(self.path, f"expected a line '{keyword} : …', got none")
        return self.values[keyword]

    def whole(self, keyword: str, least: int) -> int:
        """Return the whole number of a keyword; raise `FileFormatError` if it is below ``least``.

        The error also comes if the text is not a whole number or is above 1e12.
        """
        text = self.value(keyword)
        try:
            number = float(text)
        except ValueError:
            number = np.nan
        # This form of the test refuses NaN, too. Above 1e12, sums in float64 may not be exact.
        if not (least <= number <= 1e12 and number == int(number)):
            raise refuse(
                self.path, f"{keyword}: expected a whole number of at least {least}, got {text!r}"
            )
        return int(number)


def scan(path: str | os.PathLike[str], text: str) -> Header:
    """Return the header of a file and the node numbers of its sections."""
    values: dict[str, str] = {}
    comments: list[str] = []
    ids: dict[str, list[str]] = {}
    tables: list[str] = []
    name: str | None = None
    for line in text.splitlines():
        words = line.split()
        # vrplib's rule for comments, so that both read the same rows.
        if not words or words[0].startswith("#"):
            continue
        title = line.strip(" \t:\x1a")
        if title == "EOF":
            break
        if title.endswith("_SECTION") and title == title.split()[0]:
            name = title.removesuffix("_SECTION").upper()
            ids.setdefault(name, [])
        elif name is not None:
            ids[name] += words if name in STREAMS else words[:1]
        elif ":" in line:
            keyword, _, value = (part.strip() for part in line.partition(":"))
            values[keyword.upper()] = value
            if keyword.upper() == "COMMENT":
                comments.append(value)
            if keyword.upper() in FREE:
                continue
        if name not in STREAMS:
            tables.append(line)
    return Header(os.fspath(path), values, "\n".join(comments), ids, "\n".join(tables))


def parse(header: Header) -> dict[str, Any]:
    """Return vrplib's dictionary of the file; raise `FileFormatError` where vrplib fails."""
    try:
        # Without edge weights: a matrix of n x n floats is large and often not needed.
        return dict(parse_vrplib(header.tables, compute_edge_weights=False))
    except Exception as error:  # vrplib does not catch the errors of int() and numpy
        raise refuse(header.path, f"not in TSPLIB format ({error})") from error


def table(
    header: Header, parsed: dict[str, Any], section: str, columns: int, count: int
) -> npt.NDArray[np.float64]:
    """Return a section's numbers in the order of the nodes.

    Parameters
    ----------
    header, parsed
        The results of `scan` and `parse`.
    section
        Its name without ``_SECTION``.
    columns
        The expected number of values after each node number.
    count
        The expected number of rows, with node numbers 1 … ``count`` in any order.

    Returns
    -------
    Float64 ``[count, columns]``, finite and at most 1e12 in size.

    Raises
    ------
    FileFormatError
        If the section is missing, or if rows or numbers are missing, repeated or unreadable.
    """
    title = f"{section}_SECTION"
    if section not in header.ids:
        raise refuse(header.path, f"expected a {title}, got none")
    ids = header.ids[section]
    if len(ids) != count:
        raise refuse(
            header.path, f"{title}: expected {count} rows as DIMENSION says, got {len(ids)}"
        )
    try:
        numbers = np.array(parsed[section.lower()], dtype=np.float64).reshape(count, columns)
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise refuse(
            header.path,
            f"{title}: expected a node number and {columns} number(s) in every row ({error})",
        ) from error
    bad = np.flatnonzero(~(np.abs(numbers) <= 1e12).all(axis=1))  # this form refuses NaN, too
    if bad.size:
        raise refuse(
            header.path,
            f"{title}: expected finite numbers of at most 1e12, "
            f"got {numbers[bad[0]].tolist()} at node {ids[bad[0]]}",
        )
    return numbers[_order(header, title, ids)]


def _order(header: Header, title: str, ids: list[str]) -> npt.NDArray[np.intp]:
    """Return the indices that sort rows by node number; the numbers must be 1 … n, each once."""
    seen: set[str] = set()
    valid = {str(number) for number in range(1, len(ids) + 1)}
    for name in ids:
        if name not in valid:
            raise refuse(
                header.path, f"{title}: expected node numbers 1 to {len(ids)}, got {name!r}"
            )
        if name in seen:
            raise refuse(header.path, f"{title}: expected every node once, got node {name} twice")
        seen.add(name)
    return np.argsort([int(name) for name in ids])
