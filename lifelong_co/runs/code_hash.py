"""The code of a plugin in one hash: of all Python files of its top-level packages and modules."""

import functools
import hashlib
import itertools
import os
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

from lifelong_co.registry.catalog import Entry
from lifelong_co.registry.entry_points import OURS
from lifelong_co.registry.plugins import IN_PROCESS, catalog

DIGITS = 12
MOST = 5000
"""Files of a package that are read; a folder with more is not one package's code."""
FOREIGN = ("node_modules", "site-packages")
"""Folders inside a package that are not its code; hidden ones are not, either."""


def code(entry: Entry) -> str:
    """Return a hash of the code that an entry belongs to; empty if it has no file.

    All entries of an installed distribution have the same hash: that of the packages from which its
    plugins come. An entry of `register_plugin` has that of the package or the file that defines it.
    A file that is not in a package is hashed alone.
    """
    owner = entry.component.owner
    if owner == IN_PROCESS:
        return _hash(_roots(module_of(entry.thing), namespaces=False))
    entries = [one for one in catalog().entries if one.component.owner == owner]
    names = {one.component.plugin for one in entries}
    names |= _of_owner({module_of(one.thing) for one in entries} - names, owner, names)
    return _hash({root for name in names for root in _roots(name, namespaces=True)})


def module_of(thing: Any) -> str:
    """Return the name of the module that defines a registered object."""
    while isinstance(thing, functools.partial):
        thing = thing.func
    found = getattr(thing, "__module__", None) or type(thing).__module__
    return str(found)


def _of_owner(names: set[str], owner: str, plugins: set[str]) -> set[str]:
    """Return the modules that do not belong to Python, to us, or to another distribution."""
    ours = {top(one.component.plugin) for one in catalog().entries if one.component.owner == OURS}
    theirs = {name for name in names if top(name) not in ours | sys.stdlib_module_names}
    known = {top(name) for name in plugins}
    if all(top(name) in known for name in theirs):  # the usual case, without a look at all packages
        return theirs
    owners = metadata.packages_distributions()  # lacks some that are installed as editable
    return {name for name in theirs if owner in owners.get(top(name), [owner])}


def top(name: str) -> str:
    """Return the top-level name of a module."""
    return name.partition(".")[0]


def _roots(name: str, *, namespaces: bool) -> Iterator[Path]:
    """Yield the folder of a module's top-level package, or the file of a module outside of one.

    With ``namespaces``, a folder without ``__init__.py`` is a package too, but not its parents.
    """
    parts = name.split(".")
    parents = [sys.modules.get(".".join(parts[:end])) for end in range(1, len(parts) + 1)]
    for module in parents[:-1]:
        if file := _file(module):
            yield file.parent
            return
    file = _file(parents[-1])
    package = hasattr(parents[-1], "__path__") or (namespaces and len(parts) > 1)
    if file:
        yield file.parent if package else file


def _file(module: ModuleType | None) -> Path | None:
    found = getattr(module, "__file__", None)
    return Path(found) if found else None


def _hash(roots: Iterable[Path]) -> str:
    """Return a hash of files and of all Python files below folders; empty if none can be read."""
    found: list[tuple[str, bytes]] = []
    for root in sorted(roots, key=lambda root: (root.name, str(root))):
        try:
            files = itertools.islice(_python_files(root), MOST) if root.is_dir() else [root]
            found += [
                (f"{root.name}/{file.relative_to(root).as_posix()}", file.read_bytes())
                for file in files
            ]
        except OSError:  # in an archive, or moved since the import
            continue
    if not found:
        return ""
    if len(found) == 1:
        return hashlib.sha256(found[0][1]).hexdigest()[:DIGITS]
    digests = [f"{name} {hashlib.sha256(content).hexdigest()}\n" for name, content in found]
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:DIGITS]


def _python_files(folder: Path) -> Iterator[Path]:
    """Yield the Python files below a folder, in an order that does not depend on the machine."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f[0] != "." and f not in FOREIGN)
        for name in sorted(names):
            if name.endswith(".py"):
                yield Path(place) / name
