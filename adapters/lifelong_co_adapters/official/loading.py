"""Importing several official codebases into one process, although their modules share names.

A codebase is a folder of scripts. Its modules import each other by short names (``utils``,
``encoder``, ``CVRPModel``), which other codebases use, too. So its modules run unchanged, but with
another ``__import__``. It looks in the codebase's folders before it looks at installed packages,
and it stores modules in `sys.modules` under private names. No public name ever refers to an
official module, not even during the import, and `sys.path` is not used.
"""

import builtins
import hashlib
import importlib.util
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import attrs

from lifelong_co.errors import ConfigError
from lifelong_co_adapters.official.untouched import apart, untouched

# One import of official code at a time. (Python's import system has a lock for each module.)
LOCK = threading.RLock()


def load(
    root: Path,
    module: str,
    stand_ins: Mapping[str, ModuleType] | None = None,
    *,
    roots: Sequence[Path] = (),
) -> ModuleType:
    """Import a module of an official codebase under a private name.

    The working directory, torch's defaults, random states and warning filters are the same
    afterwards, even if the import raises.

    Parameters
    ----------
    root
        The folder in which the codebase's scripts run.
    module
        The module's name there, e.g. ``CVRPModel`` or ``utils.utils_for_model``.
    stand_ins
        Modules that the code gets instead of installed ones, by (dotted) name, during this import
        only.
    roots
        More folders, which the scripts add to ``sys.path``; searched in this order after ``root``.

    Returns
    -------
    The module; every call with the same folders returns the same object.

    Raises
    ------
    ConfigError
        If the folders have no module of this name.
    Exception
        Any error of the official code, e.g. ImportError for a package that is not installed. Then
        no module that this call imported stays in `sys.modules`.
    """
    folders = tuple(folder.resolve() for folder in (root, *roots))
    codebase = Codebase(folders)

    def run() -> ModuleType:
        with LOCK, untouched():
            known = set(sys.modules)
            visible = dict(stand_ins or {})
            try:
                return codebase.load(module, visible)
            except BaseException:
                codebase.forget(set(sys.modules) - known)
                raise
            finally:
                visible.clear()

    return apart(run)


@attrs.frozen
class Codebase:
    """Folders whose modules can import each other; other code cannot import them."""

    folders: tuple[Path, ...]

    @property
    def package(self) -> str:
        """The private package of all its modules in `sys.modules`."""
        joined = "\0".join(map(str, self.folders))
        return f"_lifelong_co_official_{hashlib.sha256(joined.encode()).hexdigest()[:12]}"

    def load(self, name: str, stand_ins: dict[str, ModuleType]) -> ModuleType:
        """Return the module of this name; import it if necessary."""
        if self.package not in sys.modules:
            sys.modules[self.package] = empty_package(self.package, list(self.folders))
        module = self.find(name, stand_ins)
        if module is None:
            places = ", ".join(map(str, self.folders))
            raise ConfigError(f"official module {name!r}: expected in {places}, got none")
        return module

    def forget(self, names: set[str]) -> None:
        """Remove the given names from `sys.modules` if they are modules of this codebase."""
        for name in names:
            if name.startswith(f"{self.package}."):
                del sys.modules[name]
                parent, _, last = name.rpartition(".")
                if parent in sys.modules:
                    vars(sys.modules[parent]).pop(last, None)

    def find(self, name: str, stand_ins: dict[str, ModuleType]) -> ModuleType | None:
        """Return the module of this dotted name, or None if the codebase has none."""
        private = f"{self.package}.{name}"
        if private in sys.modules:
            return sys.modules[private]
        parent_name, _, last = name.rpartition(".")
        parent = self.find(parent_name, stand_ins) if parent_name else sys.modules[self.package]
        if parent is None:
            return None
        module = self.create(
            private, last, [Path(place) for place in getattr(parent, "__path__", ())]
        )
        if module is None:
            return None
        importer = self.importer(stand_ins)
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": importer}
        sys.modules[private] = module
        try:
            if module.__spec__ is not None and module.__spec__.loader is not None:
                module.__spec__.loader.exec_module(module)
        except BaseException:
            del sys.modules[private]
            raise
        setattr(parent, last, module)
        return module

    def create(self, private: str, last: str, places: list[Path]) -> ModuleType | None:
        """Return a new module, not yet run, from the first place with its file or package."""
        for place in places:
            for path, inside in (
                (place / last / "__init__.py", [str(place / last)]),
                (place / f"{last}.py", None),
            ):
                if path.is_file():
                    loader: Any = Unchanged(path)
                    spec = importlib.util.spec_from_file_location(
                        private, path, loader=loader, submodule_search_locations=inside
                    )
                    assert spec is not None  # it is None only without a loader
                    return importlib.util.module_from_spec(spec)
        folders = [place / last for place in places if (place / last).is_dir()]
        return empty_package(private, folders) if folders else None

    def importer(self, stand_ins: dict[str, ModuleType]) -> Callable[..., Any]:
        """Return a module's ``__import__``: stand-ins, then the codebase, then other modules."""

        def run_import(
            name: str,
            globals: Mapping[str, Any] | None = None,
            locals: Mapping[str, Any] | None = None,
            fromlist: Sequence[str] | None = (),
            level: int = 0,
        ) -> Any:
            if level:
                package = (globals or {})["__package__"]
                full = importlib.util.resolve_name("." * level + name, package)
                name = full.removeprefix(self.package).removeprefix(".")
            with LOCK:
                top = name.partition(".")[0]
                if name in stand_ins or top in stand_ins:
                    return stand_ins.get(name if fromlist else top) or stand_ins[top]
                module = self.find(name, stand_ins) if name else sys.modules[self.package]
                if module is None:
                    return builtins.__import__(name, globals, locals, fromlist or (), 0)
                for part in fromlist or ():
                    if part != "*" and not hasattr(module, part):
                        self.find(f"{name}.{part}".removeprefix("."), stand_ins)
                return module if fromlist else sys.modules[f"{self.package}.{top}"]

        return run_import


def empty_package(name: str, folders: list[Path]) -> ModuleType:
    """Return a package without code."""
    package = ModuleType(name)
    package.__path__ = [str(folder) for folder in folders]
    package.__package__ = name
    return package


@attrs.frozen
class Unchanged:
    """A loader for importlib that runs a file unchanged, without reading or writing bytecode."""

    path: Path

    def create_module(self, spec: object) -> None:
        """Return None, so that Python makes the module."""

    def get_source(self, name: str) -> str:  # noqa: ARG002
        """Return the text, for `inspect` and tracebacks."""
        return importlib.util.decode_source(self.path.read_bytes())

    def get_code(self, name: str) -> CodeType:
        """Return the compiled file."""
        return compile(self.get_source(name), str(self.path), "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        """Run the file in the module."""
        exec(self.get_code(module.__name__), vars(module))
