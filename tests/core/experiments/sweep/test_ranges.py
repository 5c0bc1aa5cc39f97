"""Lists of numbers as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifelong_co.errors import ConfigError
from lifelong_co.experiments.sweep.ranges import parse_orders, parse_ranges, show_ranges


@given(st.lists(st.integers(0, 60), min_size=1, unique=True))
def test_ranges_read_back(numbers):
    """Any list of different numbers is written so that reading gives it again."""
    text = show_ranges(numbers)
    assert list(parse_ranges(text, "orders")) == numbers
    assert list(parse_ranges(text.replace(",", " , ").replace("-", " - "), "orders")) == numbers


def test_ranges_by_hand():
    """Both ends are in, neighbours become ranges and the order stays."""
    assert parse_ranges("1-3,5", "orders") == (1, 2, 3, 5)
    assert parse_ranges("7,0-1", "orders") == (7, 0, 1)
    assert show_ranges([1, 2, 3, 5, 4, 5 + 4]) == "1-3,5,4,9"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected numbers and ranges like 1-3,5, got ''"),
        ("1,", "got '1,'"),
        ("-1", "got '-1'"),
        ("1-2-3", "got '1-2-3'"),
        ("one", "got 'one'"),
        ("3-1", "runs upwards, got '3-1'"),
        ("1-3,2", "got 2 twice in '1-3,2'"),
        ("0-999999999", "at most 10000 numbers"),
    ],
)
def test_invalid_ranges_are_refused(text, said):
    """Whatever is no list of different numbers is refused, with what was written."""
    with pytest.raises(ConfigError, match=f"seeds: .*{said}"):
        parse_ranges(text, "seeds")


def test_orders_are_numbers_and_names():
    """Numbers come first; a name twice and a text that is neither are refused."""
    assert parse_orders("1-3,5") == ("1", "2", "3", "5")
    assert parse_orders("variants, 2") == ("2", "variants")
    assert parse_orders("variants") == ("variants",)
    for wrong, message in (
        ("a,a", "each name once"),
        ("1,-", "numbers and ranges"),
        ("", "orders"),
    ):
        with pytest.raises(ConfigError, match=message):
            parse_orders(wrong)
