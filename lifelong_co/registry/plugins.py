"""The plugins of this process: the installed ones, and those registered while it runs."""

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
    """Return the entries of the installed plugins and of those registered in this process."""
    installed = _installed()
    ours = tuple(entry for entries in _in_process().values() for entry in entries)
    return Catalog(installed.entries + ours, installed.failures, installed.skipped)


def names(kind: str) -> list[str]:
    """Return the registered names of a kind (`Component.kind`), those of lifelong-co first.

    Raises
    ------
    UnknownNameError
        If there is no such kind.
    """
    if kind not in HOOKS.values():
        raise UnknownNameError("kind of component", kind, HOOKS.values())
    return [entry.component.name for entry in catalog().of_kind(kind)]


def components() -> list[Component]:
    """Return all registered components by kind, those of lifelong-co first; clashing ones too."""
    return [entry.component for kind in HOOKS.values() for entry in catalog().of_kind(kind)]


def failures() -> list[Failure]:
    """Return the plugins that could not be loaded."""
    return list(catalog().failures)


def name_clashes() -> list[str]:
    """Return one sentence for each name with several owners."""
    return clashes(catalog().entries)


def register_plugin(plugin: object, name: str | None = None) -> None:
    """Register a plugin until this process ends; it need not be a package.

    Parameters
    ----------
    plugin
        A module, or an object whose methods are marked with ``hookimpl``. In a notebook,
        ``sys.modules["__main__"]`` is the module of its cells.
    name
        The owner shown in listings, by default the name of the module or of the class. The plugin
        replaces an earlier one of the same name, so a cell of a notebook can run again.

    Raises
    ------
    PluginError
        If the plugin registers something that cannot be used, or a name that another plugin owns.
        Then nothing of the plugin is registered.
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

    Modules that Python has already imported are not imported again.
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
            "a plugin looked up a registered name while plugins were being loaded; expected the "
            "lookup inside its factory or function, when the registry is complete"
        )
    token = _loading.set(True)
    try:
        return load(restriction)
    finally:
        _loading.reset(token)
