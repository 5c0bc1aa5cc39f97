"""Tables of a report as text, Markdown, LaTeX and CSV."""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifelong_co.report.book.formats import as_csv, escape, latex, markdown, text
from lifelong_co.report.book.sheet import Cell, Sheet, from_table, words

SHEET = Sheet(
    key="metrics",
    title="Metrics, α = 10 & 5 % of |B|",
    header=("method", "AP", "AF", "AP"),
    spans=(("", 1), ("CVRP", 2), ("TSP", 1)),
    blocks=(
        (
            (
                Cell("li_inter|x"),
                Cell("4.2 (1.0)", {"": "4.21", "std": "1.04"}, 4.2),
                Cell("0.1", {"": "0.1"}, 0.1),
                Cell("-"),
            ),
            (
                Cell("llr-bc"),
                Cell("4.2", {"": "4.2"}, 4.2),
                Cell("0.7", {"": "0.7"}, 0.7),
                Cell("3.4", {"": "3.4"}, 3.4),
            ),
        ),
        ((*words("ewc"), Cell("9.9", rank=9.9), Cell("0.2", rank=0.2), Cell("-")),),
    ),
    note="In 10⁻³.",
)


def test_the_best_of_each_column_and_block_is_known():
    """Ties are best together; a column or block with one number has no best."""
    assert SHEET.best() == {(0, 1), (1, 1), (0, 2)}


def test_the_best_of_a_row_is_known():
    """Tables of instances compare within a row; what is no number is not compared."""
    header, rows = from_table(
        [["x", "a", "b"], ["1", "2.0", "1.5 (0.1)"], ["2", "-", "3"]], ranked=True
    )
    sheet = Sheet(key="x", title="x", header=header, blocks=(rows,), best_of="row")
    assert sheet.best() == {(0, 2)}


def test_text_aligns_and_marks_the_best():
    """Every line of the table is as long as its rule, and a star stands behind the best."""
    lines = text(SHEET).splitlines()
    assert lines[0] == SHEET.title
    assert lines[2].split() == ["method", "CVRP", "AP", "CVRP", "AF", "TSP", "AP"]
    assert "4.2 (1.0)*  " in lines[4]
    assert lines[4].index("4.2 (1.0)*") + 10 == lines[5].index("4.2*") + 4
    assert lines[-1] == "* the best of its column"


def test_markdown_escapes_pipes_and_sets_the_best_bold():
    """A pipe in a name does not begin a cell."""
    table = [line for line in markdown(SHEET).splitlines() if line.startswith("|")]
    assert table[0] == "| method | CVRP AP | CVRP AF | TSP AP |"
    assert table[2] == r"| li_inter\|x | **4.2 (1.0)** | **0.1** | - |"
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {5}


def test_latex_is_a_booktabs_table():
    """Columns add up in every row, spans have rules below, blocks one between them."""
    made = latex(SHEET)
    lines = made.splitlines()
    assert r"\begin{tabular}{lrrr}" in lines
    assert (
        r"\caption{Metrics, $\alpha$ = 10 \& 5 \% of \textbar{}B\textbar{}. In 10$^{-3}$.}" in lines
    )
    assert lines[lines.index(r"\toprule") + 1] == (
        r"\multicolumn{1}{c}{} & \multicolumn{2}{c}{CVRP} & \multicolumn{1}{c}{TSP} \\"
    )
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-4}" in lines
    assert r"li\_inter\textbar{}x & \textbf{4.2 (1.0)} & \textbf{0.1} & - \\" in lines
    assert [lines.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 2, 1]
    rows = [line for line in lines if line.endswith(r"\\") and "multicolumn" not in line]
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {3}


@given(st.text(alphabet='\\&%$#_{}~^<>|"ab1α→±−⁻³ '))
def test_latex_escapes_every_special_character(plain):
    """Of what `escape` writes nothing is left that TeX would take for a command of the writer."""
    made = escape(plain)
    known = r"\\text(backslash|asciitilde|asciicircum|less|greater|bar|quotedbl)\{\}"
    left = re.sub(r"\$(\\pm|\\rightarrow|-|\\alpha|\^\{-3\})\$", "", re.sub(known, "", made))
    left = re.sub(r"\\[&%$#_{}]", "", left)
    assert not re.search(r"[\\&%$#_{}~^<>|\"α→±−]", left)


def test_csv_has_a_column_for_each_number():
    """Mean and standard deviation come apart, at full precision; names and dashes stay."""
    rows = list(csv.reader(io.StringIO(as_csv(SHEET))))
    assert rows[0] == ["method", "CVRP AP", "CVRP AP std", "CVRP AF", "TSP AP"]
    assert rows[1] == ["li_inter|x", "4.21", "1.04", "0.1", ""]
    assert rows[2:] == [["llr-bc", "4.2", "", "0.7", "3.4"], ["ewc", "9.9", "", "0.2", ""]]


@pytest.mark.parametrize("form", [text, markdown, latex, as_csv])
def test_a_table_without_numbers_is_written_too(form):
    """Plain words, no best, no spans, no note."""
    sheet = Sheet(key="x", title="Title", header=("a", "b"), blocks=((words("1", "two"),),))
    assert "two" in form(sheet)
