"""The best known cost of an instance: from a file, published, or found as a reference."""

import math
import os
import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import attrs

from lifelong_co.errors import FileFormatError
from lifelong_co.experiments.benchmark.published import BEST, LIBRARIES
from lifelong_co.experiments.benchmark.results import Benchmark, Result
from lifelong_co.experiments.references.cache import Cache
from lifelong_co.experiments.references.subject import of_file
from lifelong_co.instance_files.file_instance import FileInstance, InvalidSolutionError
from lifelong_co.instance_files.solutions import check, comparable, read_solution
from lifelong_co.instance_files.vrplib_parser import refuse


def known_of(
    file: Path,
    instance: FileInstance,
    references: Path | None,
    warn: Callable[[str], None] = warnings.warn,
) -> float | None:
    """Return the best known cost of an instance, in the units of the file; None if none is known.

    The cost comes from a ``.sol`` or ``.opt.tour`` beside the file, else from the file. The cost of
    the published list, or of a reference in the folder ``references``, is used instead if it is
    lower, or if there is no other cost. A solution beside the file that cannot be read, or does not
    solve the instance, is left out, and a reference that cannot be read, too: ``warn`` gets a line.
    """
    try:
        stated = best_known(file, instance)
    except FileFormatError as error:
        warn(f"{error}; its cost is left out")
        stated = instance.best_known
    rounded = instance.distance_rule == "EUC_2D"
    published = BEST.get(instance.problem, {}).get(file.stem) if rounded else None
    # The names have the number of nodes: a file of another size only has the name.
    if published and int(re.findall(r"\d+", file.stem)[0]) == len(instance.coordinates):
        stated = min(published, stated or math.inf)
    try:
        return _least(stated, instance.problem, of_file(instance).key, references)
    except FileFormatError as error:
        warn(f"no reference of {file}: {error}")
        return stated


def best_known(path: str | os.PathLike[str], instance: FileInstance) -> float | None:
    """Return the best-known cost of an instance file, in the file's units.

    A warning says if a solution file states another whole number than its solution costs: the file
    may be cut, or the number belongs to another rounding.

    Parameters
    ----------
    path
        The file ``X.vrp`` or ``X.tsp``. Its solution is ``X.sol`` or, without a depot,
        ``X.opt.tour``, in the same folder.
    instance
        The content of the file.

    Returns
    -------
    Without a solution file: the cost that the instance's COMMENT states, or None. Else the cost
    of the solution under the instance's distance rule; the cost that the file states, only if it
    holds no solution.

    Raises
    ------
    FileFormatError
        If either file cannot be used, the solution does not solve the instance, or a stated cost
        without a solution cannot be of this rule.
    """
    file = beside(Path(path), instance)
    if not file.exists():
        return instance.best_known
    solution = read_solution(file)
    stated = None if solution.cost is None else float(solution.cost)
    if stated is not None and not solution.actions.size:
        if comparable(stated, instance.distance_rule):
            return stated
        raise refuse(
            file,
            f"expected a cost by the rule {instance.distance_rule}, or a solution, got {stated:g}",
        )
    try:
        found = float(check(instance, solution.actions).cost)
    except InvalidSolutionError as error:
        raise refuse(file, f"does not solve {os.fspath(path)}: {error}") from error
    rounded = instance.distance_rule != "UNROUNDED"
    if rounded and stated is not None and stated.is_integer() and stated != found:
        warnings.warn(
            f"{file}: states a cost of {stated:.10g}; its solution costs {found:.10g}: this counts",
            stacklevel=2,
        )
    return found


def beside(path: Path, instance: FileInstance) -> Path:
    """Return where the best known solution of an instance file would be: where its name is.

    A link that has the name of the file may lead elsewhere.
    """
    return (path.parent.resolve() / path.name).with_suffix(
        ".opt.tour" if instance.demand is None else ".sol"
    )


def as_now(results: Sequence[Result], instances: Sequence[FileInstance]) -> list[Result]:
    """Return results with the present best known costs of these instances: one may be withdrawn."""
    known = {one.name: one.best_known for one in instances}
    return [
        attrs.evolve(one, best_known=known.get(one.instance, one.best_known)) for one in results
    ]


def with_references(benchmark: Benchmark, references: Path) -> Benchmark:
    """Return a benchmark with the costs of present references that are lower than stored costs.

    Results of older versions have no hash of the instance and are not changed.

    Raises
    ------
    FileFormatError
        If a reference cannot be read.
    """
    library = benchmark.settings.get("library")
    if not isinstance(library, str):
        return benchmark
    problem = LIBRARIES[library][0] if library in LIBRARIES else library
    results = [
        attrs.evolve(one, best_known=_least(one.best_known, problem, one.instance_key, references))
        for one in benchmark.results
    ]
    return attrs.evolve(benchmark, results=results)


def _least(cost: float | None, problem: str, key: str, references: Path | None) -> float | None:
    """Return the lower of a cost and that of the instance's reference; None if both are missing."""
    found = Cache(references).get(problem, key) if references is not None and key else None
    if found is None:
        return cost
    return found.cost if cost is None else min(cost, found.cost)
