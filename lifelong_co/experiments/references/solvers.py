"""Finding the reference of an instance: the choice of the solver, and its settings."""

import time
from typing import Any

import attrs

from lifelong_co.experiments.references.exact import shortest_tour
from lifelong_co.experiments.references.heuristic import search
from lifelong_co.experiments.references.packages import version
from lifelong_co.experiments.references.subject import Integers, Model
from lifelong_co.validators import at_least


@attrs.frozen(kw_only=True)
class Settings:
    """The effort of the solvers."""

    iterations: int = attrs.field(default=2000, validator=at_least(1))
    """A search of PyVRP ends after this number of iterations without improvement."""
    restarts: int = attrs.field(default=12, validator=at_least(1))
    """Number of searches of PyVRP; always one if CP-SAT follows."""
    seconds: int = attrs.field(default=120, validator=at_least(1))
    """Time limit of each solver on one instance."""
    prove: int = attrs.field(default=100, validator=at_least(0))
    """CP-SAT tries to prove optimality for TSPs with up to this number of nodes."""
    seed: int = attrs.field(default=0, validator=at_least(0))
    """Seed of PyVRP."""


@attrs.frozen
class Found:
    """A solution, and the solver that found it."""

    actions: list[int]
    """``[T]``; for the CVRP with the depot at both ends and between routes."""
    proven: bool
    """Whether it is proven optimal in the integers of the model."""
    solver: str
    version: str
    """Version of the solver's package."""
    settings: dict[str, Any]
    seconds: float
    """Time of the search."""


def solve(model: Model, settings: Settings) -> Found | None:
    """Return the best solution found, or None if no solution is feasible.

    TSP: PyVRP; then, with at most ``prove`` nodes, CP-SAT starts from PyVRP's tour, and the better
    tour is kept. CVRP: PyVRP.
    """
    begin = time.perf_counter()
    solver, used, proven = "pyvrp", attrs.asdict(settings), False
    tsp = model.demand is None
    if tsp and len(model.distances) <= 3:
        actions: list[int] | None = list(range(len(model.distances)))
    else:
        follows = tsp and len(model.distances) <= settings.prove
        actions = search(
            model,
            iterations=settings.iterations,
            restarts=1 if follows else settings.restarts,
            seconds=settings.seconds,
            seed=settings.seed,
        )
    if actions is None:
        return None
    if tsp and len(model.distances) <= settings.prove:
        tour = shortest_tour(model.distances, actions, seconds=settings.seconds)
        proven = tour.proven
        if proven or length(model.distances, tour.actions) < length(model.distances, actions):
            actions, solver = tour.actions, "ortools"
    elapsed = round(time.perf_counter() - begin, 3)
    return Found(actions, proven, solver, version(solver), used, elapsed)


def length(distances: Integers, actions: list[int]) -> int:
    """Return the length of the closed route through ``actions [T]``."""
    return int(distances[actions, [*actions[1:], actions[0]]].sum())
