"""What a registered component is, and its options: read from its signature and docstring."""

import inspect
import re
from collections.abc import Iterator

import attrs

from lifelong_co.errors import UnknownNameError
from lifelong_co.registry.catalog import Component, Entry
from lifelong_co.registry.factory import POSITIONAL, by_name, signature_of
from lifelong_co.registry.plugins import catalog

WITH_OPTIONS = frozenset({"solver", "buffer", "method", "objective", "distribution"})
"""The kinds of components that are built from options."""
APART = frozenset({"variant", "capacity"})
"""What `lookup` gives the factory of a distribution by name, apart from the options."""


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
    """The first paragraph of its docstring as one line, or the tasks of an order; may be empty."""
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
    return [Described(entry.component, _summary(entry), tuple(_options(entry))) for entry in found]


def _summary(entry: Entry) -> str:
    thing = getattr(entry.thing, "func", entry.thing)  # of a functools.partial
    if entry.component.kind == "order":  # data, without a docstring
        return f"{len(thing)} tasks"
    text = inspect.getdoc(thing) or ""
    return " ".join(text.partition("\n\n")[0].split())


def _options(entry: Entry) -> Iterator[Option]:
    """Yield the options of a component; a factory whose signature is hidden has none."""
    if entry.component.kind not in WITH_OPTIONS:
        return
    factory, kind = entry.thing, entry.component.kind
    texts = parameters(inspect.getdoc(getattr(factory, "func", factory)) or "")
    signature = signature_of(factory)
    if signature is None:
        return
    for name in by_name(signature, POSITIONAL.get(kind, 0)):
        if kind != "distribution" or name not in APART:
            default = signature.parameters[name].default
            shown = "" if default is inspect.Parameter.empty else repr(default)
            yield Option(name, shown, texts.get(name, ""))


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
