"""Tables in LaTeX."""

import re

from hypothesis import given
from hypothesis import strategies as st
from synthetic_sheets import SHEET

from lifelong_co.experiments.latex import escape, latex
from lifelong_co.experiments.sheet import Sheet, words


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


def test_names_at_the_start_of_a_row_are_no_options():
    """LaTeX takes brackets and a star after the end of a row as options of the row's end."""
    rows = (words("[x] y", "1"), words(" *star", "2"), words("x [y]", "3"))
    made = latex(Sheet(key="x", title="T", header=("a", "b"), blocks=(rows,))).splitlines()
    assert made[made.index(r"\midrule") + 1 :][:3] == [
        r"{}[x] y & 1 \\",
        r"{} *star & 2 \\",
        r"x [y] & 3 \\",
    ]


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


def test_the_sign_of_a_number_is_a_minus_and_a_hyphen_of_a_name_stays():
    """TeX sets a plain - as a hyphen, which is shorter."""
    cells = words("llr-bc", "-0.6 ± 3.2", "4.2 (-1.0)", "-weighting(x-1)", "-")
    made = latex(Sheet(key="x", title="x", header=("a",) * 5, blocks=((cells,),)))
    assert r"llr-bc & $-$0.6 $\pm$ 3.2 & 4.2 ($-$1.0) & -weighting(x-1) & - \\" in made


@given(st.text(alphabet='\\&%$#_{}~^<>|"ab1α→±−⁻³ '))
def test_latex_escapes_every_special_character(plain):
    """Of what `escape` writes nothing is left that TeX would take for a command of the writer."""
    made = escape(plain)
    known = r"\\text(backslash|asciitilde|asciicircum|less|greater|bar|quotedbl)\{\}"
    left = re.sub(r"\$(\\pm|\\rightarrow|-|\\alpha|\^\{-3\})\$", "", re.sub(known, "", made))
    left = re.sub(r"\\[&%$#_{}]", "", left)
    assert not re.search(r"[\\&%$#_{}~^<>|\"α→±−]", left)
