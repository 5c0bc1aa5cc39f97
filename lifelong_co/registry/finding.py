"""Finding a component by its name, and building it from its options."""

from typing import Any

from lifelong_co.errors import ComponentError, ConfigError
from lifelong_co.registry.catalog import Entry
from lifelong_co.registry.factory import check, make, named
from lifelong_co.registry.plugins import catalog


def find(kind: str, name: str) -> Entry:
    """Return what is registered under a name."""
    if not isinstance(name, str):
        given = repr(name).partition("\n")[0]
        raise ConfigError(f"{kind}: expected a registered name, got {given:.80}")
    return catalog().find(kind, name)


def made(kind: str, name: str, protocol: type, /, *given: Any, **options: Any) -> Any:
    """Call the factory registered under a name, and check the members of its result."""
    found = find(kind, name)
    try:
        thing = make(f"{kind} {name!r}", found.thing, *given, **options)
    except SystemExit as error:
        raise ComponentError(
            f"{label(found)}: expected it to return {named(protocol)}, got SystemExit: {error}"
        ) from error
    check(label(found), thing, protocol)
    return thing


def label(entry: Entry) -> str:
    """Return a component's kind, name and plugin in words, for messages."""
    return f"{entry.component.kind} {entry.component.name!r} of {entry.component}"
