"""The costs of a run: written with all digits, and read back."""

import csv
import io
import re
from pathlib import Path

import pytest
from tiny_costs import costs

from lifelong_co.errors import FileFormatError
from lifelong_co.runs.costs import (
    HEADER,
    Cost,
    as_csv,
    as_lines,
    parse,
    read_costs,
)
from lifelong_co.storage.appended import Appended


def text(rows: list[Cost]) -> str:
    """Return the content of a file of costs."""
    return as_csv([HEADER]) + as_lines(rows)


def test_costs_are_written_with_all_digits() -> None:
    """A cost is read back to the same bits."""
    precise = [[0.1 + 0.2, 1 / 3], [2**0.5, 5.5]]
    rows = list(csv.DictReader(io.StringIO(text(costs(precise)))))
    assert [float(row["cost"]) for row in rows] == [9.0, *precise[0], *precise[1]]
    assert rows[-1] == {"learning": "2", "epoch": "2", "tested": "2", "name": "U6", "cost": "5.5"}


@pytest.mark.parametrize("name", ["U5", "a,b", 'say "U"', "two\nlines", "Größe"])
def test_rows_are_read_as_they_were_written(tmp_path: Path, name: str) -> None:
    """Names may have commas, quotes and line breaks; the checksum is checked."""
    rows = [Cost(1, 1, 1, name, 1 / 3), Cost(1, 2, 1, name, 0.1)]
    file = Appended(tmp_path / "costs.csv")
    file.append(text(rows))
    assert list(read_costs(file.path, [name])) == rows
    file.path.write_text(text(rows).replace("0.1", "0.2"))
    with pytest.raises(FileFormatError, match=r"costs\.csv: truncated or altered"):
        list(read_costs(file.path, [name]))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("learning,", "learn,", "line 1: expected the header learning,epoch,"),
        ("1,1,1,U5,9.0", "1,1,1,U5,nan", "line 2: expected learning, epoch"),
        ("1,1,1,U5,9.0", "1,1,1,U5,-9.0", "line 2: expected learning, epoch"),
        ("1,1,1,U5,9.0", "1,1,1,U5", "line 2: expected learning, epoch"),
        ("1,1,1,U5,9.0", "1,x,1,U5,9.0", "line 2: expected learning, epoch"),
        ("1,1,1,U5,9.0", f"1,1,1,{'U' * 200_000},9.0", "line 2: no CSV (field larger"),
    ],
)
def test_line_that_is_no_row_is_refused(old: str, new: str, said: str) -> None:
    """The error names the file and the line."""
    changed = text(costs()).replace(old, new, 1)
    with pytest.raises(FileFormatError, match=re.escape(f"costs.csv, {said}")):
        list(parse(changed, Path("costs.csv")))


def test_name_of_a_task_is_no_formula(tmp_path: Path) -> None:
    """A spreadsheet shows it as words; written again, the line is the same."""
    line = as_lines([Cost(1, 1, 1, "=cmd()", 3.5)])
    assert line == "1,1,1,'=cmd(),3.5\n"
    header = ",".join(HEADER)
    [(_, read)] = parse(f"{header}\n{line}", tmp_path / "costs.csv")
    assert as_lines([read]) == line
