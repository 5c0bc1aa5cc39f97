"""What a registered component is, and its options: read from its signature and docstring."""

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from lifelong_co.errors import UnknownNameError
from lifelong_co.registry.catalog import Component, Entry
from lifelong_co.registry.plugins import catalog

WITH_OPTIONS = frozenset({"solver", "buffer", "method", "objective", "distribution"})
"""The kinds of components that are built from options."""
GIVEN: Mapping[str, frozenset[str]] = {
    "solver": frozenset({"problem"}),
    "buffer": frozenset({"capacity", "seed"}),
    "objective": frozenset({"solver"}),
    "distribution": frozenset({"problem", "variant", "capacity"}),
}
"""Parameters of factories that a caller of `lookup` gives apart from the options, by kind."""


@attrs.frozen
class Option:
    """An option of a component."""

    name: str
    default: str
    """The default value as Python text; empty if the option is required."""
    text: str
    """What its docstring says; empty if it says nothing."""


@attrs.frozen
class Described:
    """A component, what it is, and its options."""

    component: Component
    summary: str
    """The first paragraph of its docstring as one line; empty without a docstring."""
    options: tuple[Option, ...]


def described(name: str) -> list[Described]:
    """Return the components of a name, at most one of each kind.

    Raises
    ------
    UnknownNameError
        If no component has the name.
    """
    entries = catalog().entries
    found = [entry for entry in entries if entry.component.name == name]
    if not found:
        raise UnknownNameError("component", name, [entry.component.name for entry in entries])
    return [
        Described(entry.component, _summary(entry.thing), tuple(_options(entry))) for entry in found
    ]


def _summary(thing: Any) -> str:
    thing = getattr(thing, "func", thing)  # of a functools.partial
    text = inspect.getdoc(thing) or ""
    return " ".join(text.partition("\n\n")[0].split())


def _options(entry: Entry) -> Iterator[Option]:
    """Yield the options of a component; a factory whose signature is hidden has none."""
    if entry.component.kind not in WITH_OPTIONS:
        return
    factory, given = entry.thing, GIVEN.get(entry.component.kind, frozenset())
    texts = parameters(inspect.getdoc(getattr(factory, "func", factory)) or "")
    for each in inspect.signature(factory).parameters.values():
        if each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL) or each.name in given:
            continue
        default = "" if each.default is each.empty else repr(each.default)
        if default or each.kind is each.KEYWORD_ONLY:
            yield Option(each.name, default, texts.get(each.name, ""))


def parameters(doc: str) -> dict[str, str]:
    """Return what the Parameters section of a numpydoc docstring says, by name."""
    found = re.search(r"^Parameters\n-+\n(.*?)(?=\n\n\w[\w ]*\n-{3,}|\Z)", doc, re.M | re.S)
    if found is None:
        return {}
    blocks = re.split(r"^(?=\S)", found[1], flags=re.MULTILINE)
    texts = {}
    for block in filter(None, blocks):
        heading, _, text = block.partition("\n")
        for name in heading.partition(" : ")[0].split(","):
            texts[name.strip().lstrip("*")] = " ".join(text.split())
    return texts
