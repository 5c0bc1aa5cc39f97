"""The components that plugins register: one entry for each name, with its owner."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
import pluggy

from lifelong_co import hookspecs
from lifelong_co.errors import PluginError, UnknownNameError

HOOKS = {
    "register_solvers": "solver",
    "register_problems": "problem",
    "register_weightings": "weighting",
    "register_divergences": "divergence",
    "register_buffers": "buffer",
    "register_methods": "method",
    "register_objectives": "objective",
    "register_loggers": "logger",
    "register_distributions": "distribution",
    "register_file_formats": "file_format",
    "register_samplers": "sampler",
    "register_orders": "order",
    "register_reference_models": "reference-model",
}
"""Every hook and the kind of component it registers."""


@attrs.frozen
class Component:
    """A registered name and its owner."""

    kind: str
    """A value of `HOOKS`, e.g. ``solver``."""
    name: str
    owner: str
    """The installed distribution that has the plugin, or ``this process`` (`register_plugin`)."""
    version: str
    """The distribution's version; empty for a plugin registered in this process."""
    plugin: str
    """The plugin's module."""

    def __str__(self) -> str:
        return f"{self.plugin} ({f'{self.owner} {self.version}'.strip()})"


@attrs.frozen
class Failure:
    """A plugin that could not be loaded."""

    plugin: str
    """The name of its entry point."""
    owner: str
    """The installed distribution that has the plugin; empty if unknown."""
    error: str

    def __str__(self) -> str:
        return f"plugin {f'{self.plugin!r} of {self.owner}'.removesuffix(' of ')}: {self.error}"


@attrs.frozen
class Entry:
    """A component and the object that a plugin registered for it."""

    component: Component
    thing: Any


@attrs.frozen
class Catalog:
    """All plugins' entries, the plugins that failed, and the entry points that were left out."""

    entries: tuple[Entry, ...] = ()
    failures: tuple[Failure, ...] = ()
    skipped: tuple[str, ...] = ()

    def of_kind(self, kind: str) -> list[Entry]:
        """Return the entries of one kind, those of lifelong-co first."""
        return [entry for entry in self.entries if entry.component.kind == kind]

    def find(self, kind: str, name: str) -> Entry:
        """Return the entry of a name.

        Raises
        ------
        PluginError
            If two plugins own one name of this kind, even if it is not ``name``. The result must
            not depend on the order in which plugins were installed.
        UnknownNameError
            If no entry has the name; the message names plugins that failed or were left out.
        """
        entries = self.of_kind(kind)
        for clash in clashes(entries):
            raise PluginError(clash)
        for entry in entries:
            if entry.component.name == name:
                return entry
        valid = [entry.component.name for entry in entries]
        raise UnknownNameError(kind, name, valid, self._excuses())

    def _excuses(self) -> str:
        excuses = [f"It might have come from {failure}." for failure in self.failures]
        if self.skipped:
            left_out = ", ".join(self.skipped)
            excuses.append(f"LIFELONG_CO_LOAD_PLUGINS left out these plugins: {left_out}.")
        return " ".join(excuses)


def clashes(entries: Iterable[Entry]) -> list[str]:
    """Return one sentence for each name of a kind that has several owners."""
    owners: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        component = entry.component
        owners.setdefault((component.kind, component.name), []).append(str(component))
    return [
        f"{kind} {name!r}: expected one owner, got {' and '.join(plugins)}; uninstall one of them "
        "or leave it out with LIFELONG_CO_LOAD_PLUGINS"
        for (kind, name), plugins in owners.items()
        if len(plugins) > 1
    ]


def gather(plugin: object, *, owner: str, version: str, module: str) -> tuple[Entry, ...]:
    """Return the entries that one plugin registers.

    Each plugin gets a separate plugin manager. So every registration has one known owner, and a
    plugin that pluggy refuses does not affect the others.

    Parameters
    ----------
    plugin
        A module, or an object whose methods are marked with ``hookimpl``.
    owner, version, module
        See `Component`; ``module`` is its ``plugin``.

    Raises
    ------
    PluginError
        If the plugin implements no hook or an unknown hook, if a hook has wrong parameters, or if
        the plugin registers something that cannot be used.
    """
    if isinstance(plugin, type):
        raise PluginError(
            f"plugin {module}: expected a module or an object, got the class {plugin.__name__}; "
            f"give {plugin.__name__}()"
        )
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    try:
        manager.register(plugin, name=module)
    except pluggy.PluginValidationError as error:
        raise PluginError(" ".join(str(error).split())) from error
    implemented = [caller.name for caller in manager.get_hookcallers(plugin) or ()]
    for hook in implemented:
        if hook not in HOOKS:
            raise PluginError(f"plugin {module}: {UnknownNameError('hook', hook, HOOKS)}")
    if not implemented:
        raise PluginError(
            f"plugin {module}: expected functions marked with @lifelong_co.hookimpl, got none"
        )
    entries: dict[tuple[str, str], Entry] = {}
    for hook in implemented:
        (function,) = getattr(manager.hook, hook).get_hookimpls()
        if "register" not in function.argnames:
            raise PluginError(f"plugin {module}, hook {hook}: expected the parameter 'register'")
        component = Component(HOOKS[hook], "", owner, version, module)
        register = functools.partial(_register, entries, component, hook)
        try:
            getattr(manager.hook, hook)(register=register)
        except SystemExit as error:
            raise PluginError(
                f"plugin {module}, hook {hook}: expected it to return, got SystemExit: {error}"
            ) from error
    return tuple(entries.values())


def _register(
    entries: dict[tuple[str, str], Entry], owner: Component, hook: str, name: str, thing: Any
) -> None:
    """Check and keep one registration; ``owner`` is the component without its name."""
    where = f"plugin {owner.plugin}, hook {hook}"
    if not isinstance(name, str):
        raise PluginError(f"{where}: expected a string as the name, got {name!r}")
    if not name or name != "".join(name.split()):
        raise PluginError(f"{where}: expected a name without spaces, got {name!r}")
    if owner.kind == "problem":
        # `lookup.problem` checks the methods; here only the usual mistake, the class itself.
        if isinstance(thing, type):
            raise PluginError(
                f"{where}, name {name!r}: expected a problem, got the class {thing.__name__}; "
                f"register {thing.__name__}()"
            )
    elif owner.kind == "order":
        _check_order(where, name, thing)
    elif not callable(thing):
        raise PluginError(f"{where}, name {name!r}: expected something callable, got {thing!r}")
    if (owner.kind, name) in entries:
        raise PluginError(f"{where}: {name!r} is registered twice")
    entries[owner.kind, name] = Entry(attrs.evolve(owner, name=name), thing)


def _check_order(where: str, name: str, thing: Any) -> None:
    """Refuse an order that is not ``PROBLEM:NAME`` with a sequence of tables."""
    if not all(name.partition(":")):
        raise PluginError(f"{where}: expected a name of the form PROBLEM:NAME, got {name!r}")
    if name.partition(":")[2].isdecimal():
        raise PluginError(
            f"{where}: expected a NAME that is no number, because numbers are the orders of the"
            f" paper, got {name!r}"
        )
    listed = isinstance(thing, Sequence) and not isinstance(thing, str) and len(thing) > 0
    if not listed or not all(isinstance(table, Mapping) for table in thing):
        raise PluginError(f"{where}, name {name!r}: expected a list of tables, got {thing!r}")
