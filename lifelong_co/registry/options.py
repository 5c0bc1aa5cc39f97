"""The options of a component, with its defaults or without."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from lifelong_co.errors import ConfigError, UnknownNameError
from lifelong_co.registry.factory import defaults, option_names
from lifelong_co.registry.finding import find
from lifelong_co.validators import plain


def all_options(kind: str, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given options of a component and the defaults of the others, if it is known.

    A whole number given for an option whose default is a float becomes a float: both mean the same
    run.

    Raises
    ------
    ConfigError
        If an option is None whose default is not None.
    """
    try:
        factory = find(kind, name).thing
    except UnknownNameError:
        return dict(given)
    usual, known = defaults(kind, factory), option_names(factory) or ()
    chosen = dict(given)
    for option, value in given.items():
        named = option in usual or option in known  # of other `**options` no default is known
        if value is None and named and usual.get(option, ...) is not None:  # no file can say it
            instead = f"; leave it out for {usual[option]!r}" if option in usual else ""
            raise ConfigError(f"{kind} {name!r}: {option}: expected a value, got None{instead}")
        if type(value) is int and isinstance(usual.get(option), float):
            with suppress(OverflowError):  # `make` refuses such numbers
                chosen[option] = float(value)
    return {**usual, **chosen}


def changed_options(kind: str, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given options of a component that differ from its defaults; all if unknown."""
    usual = all_options(kind, name, {})
    return {
        key: value
        for key, value in given.items()
        if key not in usual or plain(usual[key]) != plain(value)
    }
