"""Validators: which values pass, and what is refused by name."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.validators import (
    above_zero,
    at_least,
    at_least_one,
    at_least_zero,
    boolean,
    fraction,
    not_negative,
    one_of,
    plain,
    positive,
    printable,
)


@attrs.frozen
class Settings:
    """Settings with one field for each validator."""

    count: int = attrs.field(default=2, validator=at_least(2))
    rate: float = attrs.field(default=0.5, validator=positive)
    decay: float = attrs.field(default=0.0, validator=not_negative)
    on: bool = attrs.field(default=True, validator=boolean)
    name: str = attrs.field(default="one", validator=one_of("one", "two"))
    label: str = attrs.field(default="U 20 é", validator=printable)


@pytest.mark.parametrize("count", [1, -3, 2.0, "2", True])
def test_whole_number_below_the_least_is_refused(count: Any) -> None:
    """Booleans, fractions and strings are no whole numbers either."""
    assert Settings(count=2).count == 2
    with pytest.raises(ConfigError) as refused:
        Settings(count=count)
    message = f"count: expected a whole number of at least 2, got {count!r}"
    assert str(refused.value) == message


def test_whole_number_of_too_many_bits_is_refused() -> None:
    """No file format of a run can hold it."""
    assert Settings(count=2**63 - 1).count == 2**63 - 1
    with pytest.raises(ConfigError) as refused:
        Settings(count=2**63)
    assert str(refused.value) == "count: expected a whole number of at most 63 bits, got one of 64"


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan])
def test_rate_that_is_not_positive_is_refused(rate: float) -> None:
    """Zero, negative numbers and NaN are not above 0."""
    with pytest.raises(ConfigError, match=f"^rate: expected more than 0, got {rate!r}$"):
        Settings(rate=rate)


@pytest.mark.parametrize("field", ["rate", "decay"])
def test_infinite_number_is_refused(field: str) -> None:
    """The error says that the number is not finite."""
    with pytest.raises(ConfigError, match=f"^{field}: expected a finite number, got inf$"):
        Settings(**{field: math.inf})


@pytest.mark.parametrize("label", ["a\0b", "\x1b[31m", "a\nb", "\x7f", "\u2028"])
def test_control_characters_are_refused(label: str) -> None:
    """The message shows them as escapes, so that it stays one line."""
    with pytest.raises(ConfigError) as refused:
        Settings(label=label)
    assert str(refused.value) == f"label: expected a text without control characters, got {label!r}"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("rate", "1", "rate: expected more than 0, got '1'"),
        ("rate", True, "rate: expected more than 0, got True"),
        ("decay", -0.1, "decay: expected at least 0, got -0.1"),
        ("decay", math.nan, "decay: expected at least 0, got nan"),
        ("on", 1, "on: expected true or false, got 1"),
        ("name", "tow", "Unknown name 'tow'; expected one of: one, two. Did you mean 'two'?"),
    ],
)
def test_field_with_a_wrong_value_is_refused(field: str, value: Any, message: str) -> None:
    """The error names the field, what it takes and the value."""
    with pytest.raises(ConfigError if field != "name" else UnknownNameError) as refused:
        Settings(**{field: value})
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("check", "good", "bad", "message"),
    [
        (above_zero, [0.1, 5], [0, -1.0, math.nan], "solver 'x': a: expected more than 0"),
        (at_least_zero, [0, 2.5], [-0.1, math.inf, math.nan], "a: expected at least 0 and finite"),
        (at_least_one, [1, 7], [0, -2], "solver 'x': a: expected at least 1"),
        (fraction, [0.1, 1], [0, 1.1, math.nan], r"'x': a: expected a fraction in \(0, 1\]"),
    ],
)
def test_options_outside_their_range_are_refused(
    check: Callable[[str, dict[str, Any]], None], good: list[Any], bad: list[Any], message: str
) -> None:
    """The error names the owner, the option, the range and the value."""
    for value in good:
        check("solver 'x'", {"a": value})
    for value in bad:
        with pytest.raises(ConfigError, match=f"{message}, got {value}"):
            check("solver 'x'", {"fine": good[0], "a": value})


def test_numbers_of_numpy_and_paths_are_plain() -> None:
    """So the first part of a run gets what a resumed one reads from its file."""
    given = {"rate": np.float64(0.5), "files": [Path("a") / "b.npz"], "name": "one", "none": None}
    given["sizes"] = (8, (np.int64(4),))
    found = plain(given)
    assert found == {
        "rate": 0.5,
        "files": ["a/b.npz"],
        "name": "one",
        "none": None,
        "sizes": [8, [4]],
    }
    assert type(found["rate"]) is float
