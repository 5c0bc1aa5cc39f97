"""Finding installed plugins: each entry point is loaded separately, and broken ones are left out.

pluggy's own loader stops at the first entry point that raises, so that one bad install would end
even the help of the command line.
"""

import importlib.metadata
import re
import warnings
from collections.abc import Iterable, Sequence

from lifelong_co.errors import UnknownNameError
from lifelong_co.registry.catalog import Catalog, Entry, Failure, gather
from lifelong_co.registry.confinement import LOAD_SECONDS, confined

GROUP = "lifelong_co"
OURS = "lifelong-co"


class PluginWarning(UserWarning):
    """An installed plugin that could not be loaded; the program goes on without it."""


def load(restriction: str | None) -> Catalog:
    """Load the installed plugins; see `confinement` for what a plugin cannot do meanwhile.

    Parameters
    ----------
    restriction
        The value of ``LIFELONG_CO_LOAD_PLUGINS``: names of distributions or entry points, separated
        by commas. Empty: only the plugins of lifelong-co, which are always loaded. None: all.

    Returns
    -------
    What the plugins registered: first lifelong-co, then the others by the names of their
    distributions.

    Warns
    -----
    PluginWarning
        Once for each plugin that failed, and for each name in the restriction that fits no
        installed plugin.
    """
    points = sorted(importlib.metadata.entry_points(group=GROUP), key=_order)
    wanted = None if restriction is None else _names(restriction)
    entries: list[Entry] = []
    failures: list[Failure] = []
    skipped: list[str] = []
    for point in points:
        owner, version = _owner(point)
        if wanted is not None and _normal(owner) != OURS and not _is_in(point, wanted):
            skipped.append(f"{point.name} ({owner})")
            continue
        try:
            with confined(None if _normal(owner) == OURS else LOAD_SECONDS):
                entries += gather(point.load(), owner=owner, version=version, module=point.module)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # third-party code may raise anything, and exit
            in_one_line = " ".join(f"{type(error).__name__}: {error}".split())
            failures.append(Failure(point.name, owner, in_one_line))
    failures += _not_installed(wanted or (), points)
    for failure in failures:
        warnings.warn(f"Could not load {failure}", PluginWarning, stacklevel=2)
    return Catalog(tuple(entries), tuple(failures), tuple(skipped))


def _owner(point: importlib.metadata.EntryPoint) -> tuple[str, str]:
    """Return the name and version of the distribution that declares an entry point."""
    return (point.dist.name, point.dist.version) if point.dist else ("unknown", "")


def _order(point: importlib.metadata.EntryPoint) -> tuple[bool, str, str]:
    owner = _normal(_owner(point)[0])
    return owner != OURS, owner, point.name


def _normal(name: str) -> str:
    """Return a distribution's name in the form that PEP 503 compares."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _names(restriction: str) -> list[str]:
    return [name.strip() for name in restriction.split(",") if name.strip()]


def _is_in(point: importlib.metadata.EntryPoint, names: Iterable[str]) -> bool:
    owner = _normal(_owner(point)[0])
    return any(name == point.name or _normal(name) == owner for name in names)


def _not_installed(
    names: Iterable[str], points: Sequence[importlib.metadata.EntryPoint]
) -> list[Failure]:
    """Return a failure for each name in the restriction that fits no entry point."""
    installed = dict.fromkeys(_owner(point)[0] for point in points)
    return [
        Failure(
            name, "", f"LIFELONG_CO_LOAD_PLUGINS: {UnknownNameError('plugin', name, installed)}"
        )
        for name in names
        if not any(_is_in(point, [name]) for point in points)
    ]
