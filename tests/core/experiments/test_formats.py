"""Tables of a report as text, Markdown, LaTeX and CSV."""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifelong_co.experiments.formats import as_csv, markdown, text
from lifelong_co.experiments.latex import escape, latex
from lifelong_co.experiments.sheet import Cell, Sheet, words

SHEET = Sheet(
    key="metrics",
    title="Metrics, α = 10 & 5 % of |B|",
    header=("method", "AP", "AF", "AP"),
    spans=(("", 1), ("CVRP", 2), ("TSP", 1)),
    blocks=(
        (
            (
                Cell("li_inter|x"),
                Cell("4.2 (1.0)", {"1e-3": "4.21", "std_1e-3": "1.04"}, 4.2),
                Cell("0.1", {"": "0.1"}, 0.1),
                Cell("-", {"1e-3": ""}),
            ),
            (
                Cell("llr-bc"),
                Cell("4.2", {"1e-3": "4.2"}, 4.2),
                Cell("0.7", {"": "0.7"}, 0.7),
                Cell("3.4", {"1e-3": "3.4"}, 3.4),
            ),
        ),
        ((*words("ewc"), Cell("-"), Cell("0.2", rank=0.2), Cell("-")),),
    ),
    note="In 10⁻³.",
)


def test_the_best_of_each_column_and_block_is_known():
    """Ties are best together; a column or block with one number has no best."""
    assert SHEET.best() == {(0, 1), (1, 1), (0, 2)}


def test_the_best_of_a_row_is_known():
    """Tables of instances compare within a row; what is no number is not compared."""
    first = (Cell("1"), Cell("2.0", rank=2.0), Cell("1.5 (0.1)", rank=1.5))
    rows = (first, (Cell("2"), Cell("-"), Cell("3", rank=3.0)))
    sheet = Sheet(key="x", title="x", header=("x", "a", "b"), blocks=(rows,), best_of="row")
    assert sheet.best() == {(0, 2)}


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


def test_a_wide_table_is_scaled_to_the_page():
    """Braces close, the caption stays outside, and the packages needed are named."""
    assert latex(SHEET).startswith("% needs \\usepackage{booktabs}\n\\begin{table}")
    assert "resizebox" not in latex(SHEET)
    texts = ("llr-bc", *["12.3 (1.2) ± 0.4"] * 12)
    sheet = Sheet(key="x", title='"T"', header=texts, blocks=((words(*texts),),))
    lines = latex(sheet).splitlines()
    packages = r"% needs \usepackage{booktabs} \usepackage{graphicx} \usepackage[T1]{fontenc}"
    assert lines[0] == packages
    scaled = lines.index(r"\resizebox{\textwidth}{!}{%")
    assert lines[scaled - 2].startswith(r"\label")
    assert lines[scaled + 1].startswith(r"\begin{tabular}")
    assert lines[-2:] == [r"\end{tabular}}", r"\end{table}"]
    assert latex(sheet).count("{") == latex(sheet).count("}")
    narrow = Sheet(key="x", title="x", header=("a", "b"), blocks=(), spans=(("w" * 60, 2),))
    assert "resizebox" not in latex(narrow)
    wide = Sheet(key="x", title="x", header=("a", "b"), blocks=(), spans=(("w" * 65, 2),))
    assert "resizebox" in latex(wide)


@given(st.text(alphabet='\\&%$#_{}~^<>|"ab1α→±−⁻³ '))
def test_latex_escapes_every_special_character(plain):
    """Of what `escape` writes nothing is left that TeX would take for a command of the writer."""
    made = escape(plain)
    known = r"\\text(backslash|asciitilde|asciicircum|less|greater|bar|quotedbl)\{\}"
    left = re.sub(r"\$(\\pm|\\rightarrow|-|\\alpha|\^\{-3\})\$", "", re.sub(known, "", made))
    left = re.sub(r"\\[&%$#_{}]", "", left)
    assert not re.search(r"[\\&%$#_{}~^<>|\"α→±−]", left)


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
