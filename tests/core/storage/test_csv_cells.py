"""Names that look like formulas, and control characters in tables."""

import pytest

from lifelong_co.storage.csv_cells import as_words, escaped


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", " =1", "-x"])
def test_formula_becomes_words(name: str) -> None:
    """An apostrophe is put in front; the rest is unchanged."""
    assert as_words(name) == f"'{name}"


@pytest.mark.parametrize("name", ["U20", "llr-bc", "-0.5", "+3", "-1.5e-3", "", "a=b", "é — ü"])
def test_numbers_and_names_stay(name: str) -> None:
    """A negative number is no formula."""
    assert as_words(name) == name


def test_control_characters_become_escapes() -> None:
    """A tab before a formula does not hide it."""
    assert escaped("a\x1b[31mb\tc\nd\u2028e") == r"a\x1b[31mb\tc\nd\u2028e"
    assert as_words("=a\x1b") == r"'=a\x1b"
