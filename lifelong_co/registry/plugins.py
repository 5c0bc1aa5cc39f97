"""The plugins of this process: those that are installed, and those registered while it runs."""

import contextvars
import functools
import os
import types

from lifelong_co.errors import PluginError, UnknownNameError
from lifelong_co.registry.catalog import HOOKS, Catalog, Component, Entry, Failure, clashes, gather
from lifelong_co.registry.entry_points import load

RESTRICTION = "LIFELONG_CO_LOAD_PLUGINS"
IN_PROCESS = "this process"

_loading = contextvars.ContextVar("_loading", default=False)


def catalog() -> Catalog:
    """Return what is installed and what was registered in this process."""
    installed = _installed()
    ours = tuple(entry for entries in _in_process().values() for entry in entries)
    return Catalog(installed.entries + ours, installed.failures, installed.skipped)


def names(kind: str) -> list[str]:
    """Return the registered names of a kind (`Component.kind`), ours first."""
    if kind not in HOOKS.values():
        raise UnknownNameError("kind of component", kind, HOOKS.values())
    return [entry.component.name for entry in catalog().of_kind(kind)]


def components() -> list[Component]:
    """Return every registered component, clashing ones included; by kind, ours first."""
    return [entry.component for kind in HOOKS.values() for entry in catalog().of_kind(kind)]


def failures() -> list[Failure]:
    """Return the plugins that could not be loaded."""
    return list(catalog().failures)


def name_clashes() -> list[str]:
    """Return one sentence for each name with several owners."""
    return clashes(catalog().entries)


def register_plugin(plugin: object, name: str | None = None) -> None:
    """Register a plugin for the life of this process, without packaging it.

    Parameters
    ----------
    plugin
        A module, or an object whose methods are marked with ``hookimpl``; in a notebook
        ``sys.modules["__main__"]`` is what its cells define.
    name
        The owner shown in listings, by default the module's or the class's name. A plugin
        registered under the same name before is replaced, so a cell can be run again.

    Raises
    ------
    PluginError
        If the plugin registers something unusable or a name that another plugin owns; then
        nothing of it is registered.
    """
    label = name or _name(plugin)
    entries = gather(plugin, owner=IN_PROCESS, version="", module=label)
    others = {key: value for key, value in _in_process().items() if key != label}
    beside = [*_installed().entries, *(entry for group in others.values() for entry in group)]
    known = clashes(beside)
    for clash in clashes([*beside, *entries]):
        if clash not in known:
            raise PluginError(clash)
    _in_process()[label] = entries


def reload() -> None:
    """Forget all plugins, those of `register_plugin` too; the next question looks them up again.

    Modules that Python has imported already are not imported again.
    """
    _load_once.cache_clear()
    _in_process.cache_clear()


def _name(plugin: object) -> str:
    return plugin.__name__ if isinstance(plugin, types.ModuleType) else type(plugin).__qualname__


def _installed() -> Catalog:
    return _load_once(os.environ.get(RESTRICTION))


@functools.cache
def _in_process() -> dict[str, tuple[Entry, ...]]:
    return {}


@functools.cache
def _load_once(restriction: str | None) -> Catalog:
    if _loading.get():
        raise PluginError(
            "a plugin asked for a registered name while plugins are being loaded; expected it to "
            "ask inside its factory or function, when the registry is complete"
        )
    token = _loading.set(True)
    try:
        return load(restriction)
    finally:
        _loading.reset(token)
