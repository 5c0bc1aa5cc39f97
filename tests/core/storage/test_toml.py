"""Strict reading of TOML: exact types, and errors that begin with the file's name."""

from typing import Any

import attrs
import pytest

from lifelong_co.errors import ConfigError
from lifelong_co.storage.toml import drop_none, parse, structure, to_text


@attrs.frozen
class Part:
    """A part with a required size."""

    size: int


@attrs.frozen
class Whole:
    """Settings of every plain type, and parts."""

    name: str = "x"
    rate: float = 0.5
    on: bool = False
    parts: tuple[Part, ...] = ()
    words: tuple[str, ...] = ()


def read(text: str) -> Whole:
    """Return the settings of a text."""
    found: Whole = structure(parse(text, "f.toml"), Whole, "f.toml")
    return found


def test_text_gives_the_object() -> None:
    """Parts are objects, what is left out has its default, and ``1`` is a float where due."""
    found = read('rate = 1\nparts = [{size = 3}, {size = 4}]\nname = "y"\nwords = ["a", "b"]')
    assert found == Whole(name="y", rate=1.0, parts=(Part(3), Part(4)), words=("a", "b"))
    assert type(found.rate) is float


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "not valid TOML"),
        ("name = " + "1" * 5000, "not valid TOML"),
        ("name = " + "[" * 5000, "not valid TOML"),
        ("name = 3", "name: expected a text, got 3"),
        ('rate = "3"', "expected a number, got '3'"),
        ("on = 1", "expected true or false, got 1"),
        ("parts = [{size = true}]", r"parts\[0\]\.size: expected a whole number, got True"),
        ("parts = [{size = 3.0}]", "expected a whole number, got 3.0"),
        ("parts = [{}]", "size"),
        ('words = "open"', "words: expected a list, got 'open'"),
        ("words = [1]", r"words\[0\]: expected a text, got 1"),
        ("nmae = 'y'", "Unknown key 'nmae'.*Did you mean 'name'\\?$"),
    ],
)
def test_wrong_settings_are_refused(text: str, message: str) -> None:
    """The error begins with the file and says what was expected and what came."""
    with pytest.raises(ConfigError, match=rf"^f\.toml: .*{message}"):
        read(text)


def test_all_wrong_settings_are_named_together() -> None:
    """One error names each of them."""
    with pytest.raises(ConfigError, match=r"got 3.*; .*got '3'"):
        read('name = 3\nrate = "3"')


def test_text_of_a_table_is_read_back() -> None:
    """What TOML cannot hold is refused by its place."""
    table = {"a": 1, "b": {"c": [1.5, True, "x"], "d": None}}
    assert parse(to_text(table), "text") == {"a": 1, "b": {"c": [1.5, True, "x"]}}
    with pytest.raises(ConfigError, match=r"^a\.1: expected a text as a name, got 1"):
        to_text({"a": {1: 2}})
    for wrong, place in (({"b": {"c": [1, None]}}, r"b\.c\[1\]"), ({"f": {"g": len}}, r"f\.g")):
        with pytest.raises(ConfigError, match=f"^{place}: expected numbers, texts"):
            to_text(wrong)


def test_none_is_left_out_at_any_depth() -> None:
    """TOML has no None, so its keys are dropped; other values stay."""
    given: dict[str, Any] = {"a": None, "b": {"c": None, "d": 0}, "e": ({"f": None}, "")}
    assert drop_none(given) == {"b": {"d": 0}, "e": [{}, ""]}
