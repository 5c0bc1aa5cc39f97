"""The best values of a table."""

from synthetic_sheets import SHEET

from lifelong_co.experiments.sheet import Cell, Sheet


def test_the_best_of_each_column_and_block_is_known():
    """Ties are best together; a column or block with one number has no best."""
    assert SHEET.best() == {(0, 1), (1, 1), (0, 2)}


def test_the_best_of_a_row_is_known():
    """Tables of instances compare within a row; what is no number is not compared."""
    first = (Cell("1"), Cell("2.0", rank=2.0), Cell("1.5 (0.1)", rank=1.5))
    rows = (first, (Cell("2"), Cell("-"), Cell("3", rank=3.0)))
    sheet = Sheet(key="x", title="x", header=("x", "a", "b"), blocks=(rows,), best_of="row")
    assert sheet.best() == {(0, 2)}
