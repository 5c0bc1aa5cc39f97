"""Checks of settings: validators of attrs fields, and checks of the options of a factory."""

import math
from collections.abc import Callable, Mapping

import attrs

from lifelong_co.errors import ConfigError


def at_least(least: int) -> "Callable[[object, attrs.Attribute[int], int], None]":
    """Return a validator of an attrs field: a whole number of at least ``least``, no boolean."""

    def check(instance: object, attribute: "attrs.Attribute[int]", value: int) -> None:  # noqa: ARG001
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ConfigError(
                f"{attribute.name}: expected a whole number of at least {least}, got {value!r}"
            )

    return check


def positive(instance: object, attribute: "attrs.Attribute[float]", value: float) -> None:  # noqa: ARG001
    """Check an attrs field: raise `ConfigError` unless its number is above 0."""
    if not value > 0:
        raise ConfigError(f"{attribute.name}: expected more than 0, got {value!r}")


def above_zero(solver: str, options: Mapping[str, float]) -> None:
    """Check that the options of a solver are above zero.

    Raises
    ------
    ConfigError
        If an option is not; the message names it.
    """
    for name, value in options.items():
        if not value > 0:
            raise ConfigError(f"solver {solver!r}: {name}: expected more than 0, got {value}")


def at_least_zero(method: str, options: Mapping[str, float]) -> None:
    """Check that the options of a method are finite and at least zero.

    Raises
    ------
    ConfigError
        If an option is not; the message names it.
    """
    for name, value in options.items():
        if not 0 <= value < math.inf:
            raise ConfigError(
                f"method {method!r}: {name}: expected at least 0 and finite, got {value}"
            )


def at_least_one(method: str, options: Mapping[str, int]) -> None:
    """Check that the options of a method are at least one.

    Raises
    ------
    ConfigError
        If an option is not; the message names it.
    """
    for name, value in options.items():
        if value < 1:
            raise ConfigError(f"method {method!r}: {name}: expected at least 1, got {value}")


def fraction(method: str, options: Mapping[str, float]) -> None:
    """Check that the options of a method are in ``(0, 1]``.

    Raises
    ------
    ConfigError
        If an option is not; the message names it.
    """
    for name, value in options.items():
        if not 0 < value <= 1:
            raise ConfigError(
                f"method {method!r}: {name}: expected a fraction in (0, 1], got {value}"
            )
