"""What plugins register for a problem under its name: samplers, orders, file formats, models.

A problem may lack any of them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from lifelong_co.errors import ConfigError, PluginError
from lifelong_co.protocols import FieldSampler, FileFormat
from lifelong_co.reference_solvers.contract import ReferenceModel
from lifelong_co.registry.catalog import Entry
from lifelong_co.registry.factory import check, make
from lifelong_co.registry.finding import label
from lifelong_co.registry.plugins import catalog, names


def sampler(problem: str, attributes: Sequence[str] = ()) -> FieldSampler | None:
    """Return what draws the fields that a distribution does not; None if none is registered.

    Parameters
    ----------
    problem
        The name of the problem.
    attributes
        Those of the task. The factory gets them as the option ``attributes``, if there are any.

    Raises
    ------
    ConfigError
        If the attributes are one text, or if there are some and the problem has none.
    PluginError
        If two plugins own a name, or if the factory returns no function.
    """
    if isinstance(attributes, str):
        raise ConfigError(f"attributes: expected a list of names, got {attributes!r}")
    options = {"attributes": tuple(attributes)} if attributes else {}
    found = _entry("sampler", problem)
    if found is None:
        if attributes:
            raise ConfigError(
                f"attributes: expected none, because problem {problem!r} has no sampler that takes"
                f" them, got {', '.join(attributes)}"
            )
        return None
    drawn = make(f"sampler {problem!r}", found.thing, **options)
    if not callable(drawn):
        raise PluginError(f"{label(found)}: expected to get a function, got {drawn!r:.80}")
    return cast(FieldSampler, drawn)


def order(problem: str, name: str) -> Sequence[Mapping[str, Any]] | None:
    """Return the tables of a problem's order, each with fields of `tasks.Task`; None if unknown.

    Raises
    ------
    PluginError
        If two plugins own a name.
    """
    found = _entry("order", f"{problem}:{name}")
    return None if found is None else cast(Sequence[Mapping[str, Any]], found.thing)


def orders(problem: str) -> list[str]:
    """Return the names of the orders that are registered for a problem."""
    owned = (name.partition(":") for name in names("order"))
    return [name for owner, _, name in owned if owner == problem]


def reference_model(problem: str) -> Callable[[Any], ReferenceModel]:
    """Return the function from one instance (``B = 1``, float64 on the CPU) to its model.

    Raises
    ------
    ConfigError
        If no plugin has registered one for the problem.
    PluginError
        If two plugins own a name.
    """
    found = _entry("reference-model", problem)
    if found is None:
        raise ConfigError(
            f"references: expected a problem with a reference model"
            f" ({', '.join(names('reference-model'))}), got {problem!r}; a plugin can add one with"
            " register_reference_models"
        )
    return cast(Callable[[Any], ReferenceModel], found.thing)


def file_format(problem: str) -> FileFormat:
    """Return what reads the files of a problem.

    Raises
    ------
    UnknownNameError
        If no plugin has registered one for the problem.
    PluginError
        If two plugins own a name, or the object lacks a member of its protocol.
    """
    found = catalog().find("file_format", problem)
    check(label(found), found.thing, FileFormat)
    known = found.thing.suffixes
    listed = isinstance(known, tuple | list)
    if not listed or not all(isinstance(one, str) and one.startswith(".") for one in known):
        raise PluginError(f"{label(found)}: expected suffixes such as ('.vrp',), got {known!r}")
    return cast(FileFormat, found.thing)


def _entry(kind: str, name: str) -> Entry | None:
    """Return an entry; None if there is none."""
    if name not in names(kind):
        return None
    return catalog().find(kind, name)
