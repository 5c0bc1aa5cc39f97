"""Checks of settings: validators of attrs fields, and checks of the options of a factory."""

import math
import os
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import numpy as np

from lifelong_co.errors import CONTROL, ConfigError, UnknownNameError

BITS = 63
"""The most bits of a whole number: what every file format and tensor can hold."""


def too_large(value: object) -> str:
    """Return what is wrong with a whole number of more than `BITS` bits; empty for other values."""
    if not isinstance(value, int) or value.bit_length() <= BITS:
        return ""
    return f"expected a whole number of at most {BITS} bits, got one of {value.bit_length()}"


def at_least(least: int) -> "Callable[[object, attrs.Attribute[int], int], None]":
    """Return a validator of an attrs field: a whole number of at least ``least``, no boolean.

    The number has at most `BITS` bits.
    """

    def check(instance: object, attribute: "attrs.Attribute[int]", value: int) -> None:  # noqa: ARG001
        whole(attribute.name, value, least)

    return check


def whole(label: str, value: object, least: int | None = None) -> int:
    """Return a whole number of at most `BITS` bits, one of NumPy as one of Python.

    Raises
    ------
    ConfigError
        If it is something else or below ``least``; the message begins with ``label``.
    """
    given = number(value)
    sound = isinstance(given, int) and not isinstance(given, bool)
    if not sound or (least is not None and given < least):
        bound = "" if least is None else f" of at least {least}"
        raise ConfigError(f"{label}: expected a whole number{bound}, got {value!r:.80}")
    if reason := too_large(given):
        raise ConfigError(f"{label}: {reason}")
    return int(given)


def truth(label: str, value: object) -> bool:
    """Return True or False, one of NumPy as one of Python.

    Raises
    ------
    ConfigError
        If it is something else, e.g. the text ``false``; the message begins with ``label``.
    """
    given = number(value)
    if not isinstance(given, bool):
        raise ConfigError(f"{label}: expected true or false, got {value!r:.80}")
    return given


def boolean(instance: object, attribute: "attrs.Attribute[bool]", value: bool) -> None:  # noqa: ARG001
    """Check an attrs field: raise `ConfigError` unless it is True or False."""
    truth(attribute.name, value)


def positive(instance: object, attribute: "attrs.Attribute[float]", value: float) -> None:  # noqa: ARG001
    """Check an attrs field: raise `ConfigError` unless it is a finite number above 0."""
    if not _is_number(value) or not value > 0:
        raise ConfigError(f"{attribute.name}: expected more than 0, got {value!r}")
    if value == math.inf:
        raise ConfigError(f"{attribute.name}: expected a finite number, got {value!r}")


def printable(instance: object, attribute: "attrs.Attribute[str]", value: str) -> None:  # noqa: ARG001
    """Check an attrs field: raise `ConfigError` if its text has control characters."""
    if not isinstance(value, str):
        raise ConfigError(f"{attribute.name}: expected a text, got {value!r}")
    if CONTROL.search(value):
        raise ConfigError(
            f"{attribute.name}: expected a text without control characters, got {value!r}"
        )


def not_negative(instance: object, attribute: "attrs.Attribute[float]", value: float) -> None:  # noqa: ARG001
    """Check an attrs field: raise `ConfigError` unless it is a finite number of at least 0."""
    if not _is_number(value) or not value >= 0:
        raise ConfigError(f"{attribute.name}: expected at least 0, got {value!r}")
    if value == math.inf:
        raise ConfigError(f"{attribute.name}: expected a finite number, got {value!r}")


def number(value: Any) -> Any:
    """Return a NumPy number as one of Python, and anything else as it came."""
    return value.item() if isinstance(value, np.generic) else value


def scalar(value: Any) -> Any:
    """Return a NumPy number as one of Python, a path as a text, and anything else as it came."""
    return os.fspath(value) if isinstance(value, os.PathLike) else number(value)


def converted_fields(
    cls: type,  # noqa: ARG001
    fields: "list[attrs.Attribute[Any]]",
) -> "list[attrs.Attribute[Any]]":
    """Let each field of an attrs class take a `scalar`, and make a list a tuple.

    It is a ``field_transformer``.
    """

    def converted(field: "attrs.Attribute[Any]") -> "attrs.Attribute[Any]":
        def convert(value: Any) -> Any:
            return tuple(value) if isinstance(value, list) else scalar(value)

        convert.__annotations__ = {"value": field.type}  # for the signature that `help` shows
        return field.evolve(converter=convert)

    return [converted(field) for field in fields]


def plain(value: Any) -> Any:
    """Return a NumPy number as one of Python, a path as a text, and a tuple as a list.

    What is in tables and lists is changed, too.

    The files of a run hold only such values. So a run has the same ones before and after a resume.
    """
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else scalar(value)


def options(name: str, given: object) -> dict[str, Any]:
    """Return a table of options by name as a new one; raise `ConfigError` if it is none."""
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise ConfigError(f"{name}: expected a table of options, got {given!r}")
    return dict(given)


def options_table(instance: object, attribute: "attrs.Attribute[Any]", value: object) -> None:  # noqa: ARG001
    """Check an attrs field: raise `ConfigError` unless it is a table of options by name."""
    options(attribute.name, value)


def name_list(instance: object, attribute: "attrs.Attribute[Any]", value: object) -> None:  # noqa: ARG001
    """Check an attrs field: raise `ConfigError` unless it is a list of names."""
    listed = isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)
    if not listed:
        raise ConfigError(f"{attribute.name}: expected a list of names, got {value!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def one_of(*known: str) -> "Callable[[object, attrs.Attribute[str], str], None]":
    """Return a validator of an attrs field: one of these names, else `UnknownNameError`."""

    def check(instance: object, attribute: "attrs.Attribute[str]", value: str) -> None:  # noqa: ARG001
        if value not in known:
            raise UnknownNameError(attribute.name, str(value), known)

    return check


def above_zero(owner: str, options: Mapping[str, float]) -> None:
    """Refuse an option of an owner, e.g. ``solver 'pomo'``, that is not above 0 and finite.

    The `ConfigError` names both; so do those of the other checks below.
    """
    _check(owner, options, lambda value: value > 0, "more than 0")
    _check(owner, options, math.isfinite, "a finite number")


def at_least_zero(owner: str, options: Mapping[str, float]) -> None:
    """Refuse an option below 0 or not finite."""
    _check(owner, options, lambda value: 0 <= value < math.inf, "at least 0 and finite")


def at_least_one(owner: str, options: Mapping[str, int]) -> None:
    """Refuse an option below 1."""
    _check(owner, options, lambda value: value >= 1, "at least 1")


def fraction(owner: str, options: Mapping[str, float]) -> None:
    """Refuse an option that is not in ``(0, 1]``."""
    _check(owner, options, lambda value: 0 < value <= 1, "a fraction in (0, 1]")


def _check(
    owner: str, options: Mapping[str, float], accepts: Callable[[float], bool], expected: str
) -> None:
    for name, value in options.items():
        if not accepts(value):
            raise ConfigError(f"{owner}: {name}: expected {expected}, got {value!r}")
