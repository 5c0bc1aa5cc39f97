"""Checks on options that several solvers and methods have."""

from collections.abc import Mapping

from lifelong_co.errors import ConfigError


def above_zero(solver: str, options: Mapping[str, float]) -> None:
    """Refuse an option of a solver that is not above zero.

    Raises
    ------
    ConfigError
        Naming it.
    """
    for name, value in options.items():
        if not value > 0:
            raise ConfigError(f"solver {solver!r}: {name}: expected more than 0, got {value}")
