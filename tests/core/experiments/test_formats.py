"""Tables as text, Markdown and CSV."""

import csv
import io
import re

import attrs
import pytest
from synthetic_sheets import SHEET

from lifelong_co.experiments.formats import as_csv, markdown, text
from lifelong_co.experiments.latex import latex
from lifelong_co.experiments.sheet import Cell, Sheet, words


def test_text_aligns_and_marks_the_best():
    """Every line of the table is as long as its rule, and a star stands behind the best."""
    lines = text(SHEET).splitlines()
    assert lines[0] == SHEET.title
    assert lines[2].split() == ["method", "CVRP", "AP", "CVRP", "AF", "TSP", "AP"]
    assert "4.2 (1.0)*  " in lines[4]
    assert lines[4].index("4.2 (1.0)*") + 10 == lines[5].index("4.2*") + 4
    assert lines[-1] == "* best value of its column"


def test_markdown_escapes_pipes_and_sets_the_best_bold():
    """A pipe in a name does not begin a cell."""
    table = [line for line in markdown(SHEET).splitlines() if line.startswith("|")]
    assert table[0] == "| method | CVRP AP | CVRP AF | TSP AP |"
    assert table[2] == r"| li_inter\|x | **4.2 (1.0)** | **0.1** | - |"
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {5}


def test_markdown_aligns_words_left_and_numbers_right():
    """`Sheet.left` columns have words."""
    rules = [markdown(attrs.evolve(SHEET, left=left)).splitlines()[3] for left in (1, 2)]
    assert rules == ["| --- | ---: | ---: | ---: |", "| --- | --- | ---: | ---: |"]


def test_csv_has_a_column_for_each_number():
    """Mean and standard deviation come apart, at full precision, their unit in their names."""
    rows = list(csv.reader(io.StringIO(as_csv(SHEET))))
    assert rows[0] == ["method", "CVRP AP_1e-3", "CVRP AP_std_1e-3", "CVRP AF", "TSP AP_1e-3"]
    assert rows[1] == ["li_inter|x", "4.21", "1.04", "0.1", ""]
    assert rows[2:] == [["llr-bc", "4.2", "", "0.7", "3.4"], ["ewc", "", "", "0.2", ""]]


def test_words_among_numbers_have_a_column():
    """Nothing that is shown is lost, and a column of dashes still has its name."""
    mixed = (Cell("few"), Cell("1.0 (10%)", {"": "1.02", "gap_fraction": "0.1"}), Cell("-"))
    other = (Cell("few"), Cell("3.4", {"1e-3": "3.4"}), Cell("-"))
    sheets = [
        Sheet(key="x", title="x", header=("a",), blocks=(tuple((cell,) for cell in column),))
        for column in (mixed, other, [Cell("-")])
    ]
    assert [as_csv(sheet).splitlines() for sheet in sheets] == [
        ["a,a_gap_fraction", "few,", "1.02,0.1", ","],
        ["a,a_1e-3", "few,", ",3.4", ","],
        ["a", '""'],
    ]


@pytest.mark.parametrize("form", [text, markdown, latex, as_csv])
def test_a_table_without_numbers_is_written_too(form):
    """Plain words, no best, no spans, no note."""
    sheet = Sheet(key="x", title="Title", header=("a", "b"), blocks=((words("1", "two"),),))
    assert "two" in form(sheet)


def test_names_are_no_formulas_and_have_no_control_characters() -> None:
    """A spreadsheet shows a cell like ``=cmd``; a terminal shows an escape as text."""
    row = words("@a\x1b[31m", "-1")
    sheet = Sheet(key="x", title="", header=("=task", "AP"), blocks=((row,),))
    assert as_csv(sheet) == "'=task,AP\n'@a\\x1b[31m,-1\n"
    assert "\x1b" not in text(sheet)


def test_wide_table_becomes_several_of_a_hundred_columns() -> None:
    """Each part repeats the names; every cell is there once."""
    header = ("method", *(f"task number {i}" for i in range(20)))
    row = words("llr-bc", *(f"{i}.5" for i in range(20)))
    lines = text(Sheet(key="x", title="Wide", header=header, blocks=((row,),))).splitlines()
    assert max(map(len, lines)) <= 100
    rows = [line.split() for line in lines if line.startswith("llr-bc")]
    assert len(rows) == 4
    assert [cell for each in rows for cell in each[1:]] == [f"{i}.5" for i in range(20)]
