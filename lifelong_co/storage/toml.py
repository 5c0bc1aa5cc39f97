"""TOML: writing, and strict reading into attrs objects: exact types, no unknown or missing key."""

import functools
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs
import cattrs
import tomli_w
from cattrs.v import format_exception

from lifelong_co.errors import ConfigError, LifelongError, UnknownNameError

WORDS: dict[type, str] = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    bool: "true or false",
}
"""What a file must have for each type."""


def parse(text: str, source: str) -> dict[str, Any]:
    """Read TOML.

    Parameters
    ----------
    text
        The content.
    source
        The name of the file; errors begin with it.

    Raises
    ------
    ConfigError
        If the text is not valid TOML.
    """
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also for a number of thousands of digits
        raise ConfigError(f"{source}: not valid TOML: {error}") from error


def structure(data: dict[str, Any], kind: Any, source: str) -> Any:
    """Return an attrs object of a class; its fields may hold other attrs objects.

    Parameters
    ----------
    data
        The settings by name, from `parse`.
    kind
        The attrs class.
    source
        The name of the file; errors begin with it.

    Raises
    ------
    ConfigError
        If settings are unknown, missing or of a wrong type; the message names each of them.
    """
    try:
        return _converter().structure(data, kind)
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from error
    except Exception as error:
        found = cattrs.transform_error(error, path="settings", format_exception=_explain)
        raise ConfigError(f"{source}: {'; '.join(map(_placed, found))}") from error


@functools.cache  # it keeps what it compiles for each class
def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(forbid_extra_keys=True)
    for exact in WORDS:
        converter.register_structure_hook(exact, _exactly)
    listed = functools.partial(_listed, converter.get_structure_hook(tuple[str, ...]))
    converter.register_structure_hook_func(lambda kind: kind == tuple[str, ...], listed)
    return converter


def _listed(structured: Callable[[Any, Any], Any], value: Any, kind: Any) -> Any:
    """Refuse a text or a table for a list of texts: it would become its letters or its keys."""
    if isinstance(value, str | dict):
        raise ConfigError(f"expected a list, got {value!r}")
    return structured(value, kind)


def _exactly(value: Any, kind: type) -> Any:
    """Accept only the type that TOML gave: ``int("3")`` or ``bool("no")`` would hide a mistake."""
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise ConfigError(f"expected {WORDS[kind]}, got {value!r}")
    return value


def _explain(error: BaseException, kind: type | None) -> str:
    """Return the message of our error, if there is one; cattrs says only "invalid value"."""
    if isinstance(error, cattrs.ForbiddenExtraKeysError):
        known = [field.name for field in attrs.fields(error.cl)]
        unknown = sorted(error.extra_fields)
        return " ".join(UnknownNameError("key", name, known).message for name in unknown)
    if isinstance(error, AttributeError):  # cattrs takes it for a table
        return f"expected a table, got {error.obj!r}"
    return str(error) if isinstance(error, LifelongError) else format_exception(error, kind)


def _placed(reason: str) -> str:
    """Return a message of cattrs with its place first: ``x @ settings.tasks[0].size``."""
    message, _, place = reason.rpartition(" @ settings")
    name = place.removeprefix(".")
    return f"{name}: {message}" if name else message


def to_text(table: Mapping[str, Any]) -> str:
    """Return a table as TOML, without what is None.

    Raises
    ------
    ConfigError
        If it has a value that TOML cannot hold; the message names its place.
    """
    plain = drop_none(table)
    try:
        return tomli_w.dumps(plain)
    except TypeError:
        raise ConfigError(next(unfit(plain))) from None


def unfit(value: Any, place: str = "") -> Iterator[str]:
    """Yield a message for each name and value that TOML cannot hold."""
    if isinstance(value, dict):
        for key, item in value.items():
            here = f"{place}.{key}" if place else str(key)
            if not isinstance(key, str):
                yield f"{here}: expected a text as a name, got {key!r}"
            yield from unfit(item, here)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from unfit(item, f"{place}[{index}]")
    elif not isinstance(value, bool | int | float | str):
        yield f"{place}: expected numbers, texts, booleans, lists or tables of them, got {value!r}"


def drop_none(value: Any) -> Any:
    """Return nested dicts and lists without the keys whose value is None; TOML has no None."""
    if isinstance(value, dict):
        return {key: drop_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [drop_none(item) for item in value]
    return value
