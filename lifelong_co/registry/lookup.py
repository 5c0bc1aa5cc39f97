"""All components by their registered names: the only place that gives them their types back.

The hooks of pluggy return untyped objects. Plugins are loaded at the first call of a function here,
never at import.
"""

import inspect
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from lifelong_co.errors import ConfigError, LifelongError, PluginError, UnknownNameError
from lifelong_co.protocols import (
    Buffer,
    Distribution,
    Divergence,
    Logger,
    Method,
    Objective,
    Problem,
    Solver,
    Weighting,
)
from lifelong_co.registry.factory import check, option_names
from lifelong_co.registry.finding import find, label, made
from lifelong_co.registry.plugins import catalog
from lifelong_co.validators import number

TESTS_OF = ("generator", "published")


def problem(name: str) -> Problem:
    """Return a problem: ``tsp``, ``cvrp`` or a plugin's.

    All functions here raise these errors.

    Raises
    ------
    UnknownNameError
        If no plugin has registered the name.
    PluginError
        If two plugins own one name of this kind, or if the plugin's object lacks a member of its
        protocol, or is a problem with another ``name``.
    """
    found = find("problem", name)
    check(label(found), found.thing, Problem)
    if (own := getattr(found.thing, "name", name)) != name:
        raise PluginError(f"{label(found)}: expected the registered name as its name, got {own!r}")
    return cast(Problem, found.thing)


def solver(name: str, /, problem: str | Problem = "cvrp", **options: Any) -> Solver:
    """Build a solver: ``pomo`` or a plugin's.

    Parameters
    ----------
    name
        Its registered name.
    problem
        A problem or its name.
    **options
        Options of the solver, e.g. ``embedding_dim=128``.

    Raises
    ------
    ConfigError
        If the solver does not know an option.
    """
    return cast(Solver, made("solver", name, Solver, _problem(problem), **options))


def weighting(name: str) -> Weighting:
    """Return a weighting ``w(e)``: ``variance entropy top2-margin uniform`` or a plugin's."""
    return cast(Weighting, find("weighting", name).thing)


def divergence(name: str) -> Divergence:
    """Return a divergence ``D(e)``: ``kl rkl mixture js squared`` or a plugin's."""
    return cast(Divergence, find("divergence", name).thing)


def method(name: str, /, **options: Any) -> Method:
    """Build a lifelong-learning method, e.g. ``llr-bc``, from its options.

    Raises
    ------
    ConfigError
        If the method does not know an option.
    """
    _refuse_option_of_another(name, options)
    return cast(Method, made("method", name, Method, **options))


def _refuse_option_of_another(name: str, options: Mapping[str, Any]) -> None:
    """Refuse an option that only other methods have, and name these.

    A method that takes no options, or any, refuses it itself.
    """
    known = option_names(find("method", name).thing) or []
    for option in [each for each in options if known and each not in known]:
        others = [
            entry.component.name
            for entry in catalog().of_kind("method")
            if option in (option_names(entry.thing) or ())
        ]
        if others:
            raise ConfigError(
                f"method {name!r}: has no option {option!r}, only {', '.join(known)}; methods with"
                f" {option!r}: {', '.join(others)}"
            )


def stored_method(name: str, options: Mapping[str, Any]) -> Method:
    """Return the method of a stored run; with its defaults, if options cannot be used here.

    An error if it is not installed: whether it learns tasks one by one would be a guess, and so
    would its metrics and ``d*``.
    """
    known = option_names(find("method", name).thing) or ()
    kept = {option: value for option, value in options.items() if option in known}
    for given in (options, kept):  # the others may be options of another version
        with suppress(LifelongError):
            return method(name, **given)
    return method(name)  # a value, say the name of a plugin's part, cannot be used here


def knows_all_tasks(name: str, options: Mapping[str, Any]) -> bool:
    """Return `Method.knows_all_tasks` of a `stored_method`."""
    return stored_method(name, options).knows_all_tasks


def objective(name: str, solver: Solver, /, **options: Any) -> Objective:
    """Build an objective for a solver, e.g. ``preference``, with the errors of `method`."""
    return cast(Objective, made("objective", name, Objective, solver, **options))


def logger(name: str, folder: Path | str) -> Logger:
    """Build a logger, e.g. ``csv``, for the run in a folder, with the errors of `method`."""
    return cast(Logger, made("logger", name, Logger, Path(folder)))


def buffer(name: str, /, capacity: int, seed: int = 0, **options: Any) -> Buffer[Any]:
    """Build an empty buffer.

    Parameters
    ----------
    name
        ``reservoir``, ``balanced`` or a plugin's.
    capacity
        The most items it holds, at least 0.
    seed
        Seed of its random stream.
    **options
        Options of the buffer.

    Raises
    ------
    ConfigError
        If the buffer does not know an option, or the capacity is negative.
    """
    return cast(
        Buffer[Any], made("buffer", name, Buffer, number(capacity), number(seed), **options)
    )


def distribution(
    name: str,
    /,
    problem: str | Problem,
    variant: str = "official",
    capacity: int | None = None,
    **options: Any,
) -> Distribution:
    """Build a distribution of instances: ``U GM E C G R`` or a plugin's.

    Parameters
    ----------
    name
        Its registered name.
    problem
        A problem or its name.
    variant
        ``official`` (the published code) or ``paper`` (the text), where they differ.
    capacity
        Vehicle capacity in units of demand; None: the rule of the official code.
    **options
        Options of the distribution.

    Raises
    ------
    ConfigError
        If the distribution does not know an option or cannot use its value.
    """
    fixed = {"variant": variant, "capacity": capacity}
    found = made("distribution", name, Distribution, _problem(problem), **fixed, **options)
    return cast(Distribution, found)


def testset(problem: str | Problem, distribution: str, of: str = "generator") -> Any:  # noqa: PT028
    """Return the fixed test instances of a distribution.

    For ``U GM E C G R`` these are the first 1,000 test instances of the paper. With ``of`` as
    ``published``, R of the CVRP has the demands of the published file, not the ``generator``'s.

    Raises
    ------
    ConfigError
        If the distribution has no test set.
    UnknownNameError
        If ``of`` is something else.
    """
    if of not in TESTS_OF:
        raise UnknownNameError("test set", str(of), TESTS_OF)
    fixed = {"variant": "official", "capacity": None}
    chosen = made("distribution", distribution, Distribution, _problem(problem), **fixed)
    instances = getattr(chosen, "testset", None)
    if instances is None:
        raise ConfigError(
            f"distribution {distribution!r}: expected one with a test set, got "
            f"{type(chosen).__name__} without testset(); draw one with sample(batch, size)"
        )
    if of == "generator":
        return instances()
    if "of" not in inspect.signature(instances).parameters:
        raise ConfigError(
            f"distribution {distribution!r}: expected the test set of the 'generator', got {of!r};"
            " it has one test set"
        )
    return instances(of=of)


def _problem(given: str | Problem) -> Problem:
    if isinstance(given, str):
        return problem(given)
    if not hasattr(given, "reset"):
        raise ConfigError(f"problem: expected a problem or its name, got {given!r:.80}")
    return given
