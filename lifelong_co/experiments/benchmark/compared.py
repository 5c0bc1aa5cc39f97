"""What the benchmark tables compare: the checkpoints on the instances that all have solved."""

from collections.abc import Mapping, Sequence

import attrs

from lifelong_co.experiments.benchmark.results import Result
from lifelong_co.experiments.references.gaps import gap
from lifelong_co.experiments.spread import Spread, spread


@attrs.frozen
class Compared:
    """Results side by side."""

    solvers: tuple[str, ...]
    rows: Mapping[str, Mapping[str, Result]]
    """By instance, then by solver; in a row all have the same best known cost."""


def compare(results: Sequence[Result]) -> Compared:
    """Arrange results, without the instances that some checkpoint has not solved."""
    solvers = tuple(dict.fromkeys(one.solver for one in results))
    rows: dict[str, dict[str, Result]] = {}
    for one in results:
        rows.setdefault(one.instance, {})[one.solver] = one
    whole = {name: row for name, row in rows.items() if len(row) == len(solvers)}
    return Compared(solvers, {name: _agreed(row) for name, row in whole.items()})


def to_best_known(one: Result) -> float | None:
    """Return the gap to the best known cost, a fraction; None where none is known."""
    return gap(one.cost, one.best_known) if one.best_known else None


def mean_gap(found: Compared, solver: str) -> Spread:
    """Return a checkpoint's spread of gaps over the instances whose best cost is known."""
    return spread(to_best_known(row[solver]) for row in found.rows.values())


def above(row: Mapping[str, Result], *, rounded: bool) -> dict[str, float]:
    """Return how far each checkpoint is above the best of them, a fraction of it.

    Parameters
    ----------
    row
        Results on one instance by checkpoint.
    rounded
        By the file's rounded distances; else as the official code measures, without rounding.
    """
    values = {name: one.cost if rounded else one.length for name, one in row.items()}
    least = min(values.values())
    return {name: gap(value, least) if least else 0.0 for name, value in values.items()}


@attrs.frozen
class Normalised:
    """How far each checkpoint is above the best of them, in fractions of it (`above`)."""

    rows: Mapping[str, Mapping[str, float]]
    """By instance, then by solver."""
    summary: Mapping[str, Spread]
    """By solver, over the instances."""


def normalise(found: Compared, *, rounded: bool) -> Normalised:
    """Return the paper's values; ``rounded`` as in `above`."""
    rows = {name: above(row, rounded=rounded) for name, row in found.rows.items()}
    each = {name: spread(row[name] for row in rows.values()) for name in found.solvers}
    return Normalised(rows, each)


def _agreed(row: Mapping[str, Result]) -> dict[str, Result]:
    """Return a row with one best known cost: results may have been stored at different times."""
    known = [one.best_known for one in row.values() if one.best_known is not None]
    least = min(known, default=None)
    return {name: attrs.evolve(one, best_known=least) for name, one in row.items()}
