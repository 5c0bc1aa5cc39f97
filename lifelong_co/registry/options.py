"""The options of a component, with its defaults or without."""

from collections.abc import Mapping
from typing import Any

from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.registry.factory import defaults
from lifelong_co.registry.finding import find
from lifelong_co.validators import plain


def all_options(kind: str, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given options of a component and the defaults of the others, if it is known.

    Raises
    ------
    ConfigError
        If an option is None that has another default.
    """
    try:
        usual = defaults(find(kind, name).thing)
    except UnknownNameError:
        return dict(given)
    for option, value in given.items():
        if value is None and usual.get(option) is not None:  # no file of a run can say it
            raise ConfigError(
                f"{kind} {name!r}: {option}: expected a value, got None; leave it out for"
                f" {usual[option]!r}"
            )
    return {**usual, **given}


def changed_options(kind: str, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given options of a component that differ from its defaults; all if unknown."""
    usual = all_options(kind, name, {})
    return {
        key: value
        for key, value in given.items()
        if key not in usual or plain(usual[key]) != plain(value)
    }
