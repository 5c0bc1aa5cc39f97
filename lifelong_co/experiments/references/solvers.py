"""Which solver finds the reference of which instance, and with which settings."""

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
    """How hard to look."""

    iterations: int = attrs.field(default=2000, validator=at_least(1))
    """A search of PyVRP ends after so many without improvement."""
    restarts: int = attrs.field(default=12, validator=at_least(1))
    """Searches of PyVRP; one where CP-SAT follows."""
    seconds: int = attrs.field(default=120, validator=at_least(1))
    """Limit of each solver on one instance."""
    prove: int = attrs.field(default=100, validator=at_least(0))
    """TSPs up to this size are solved to proven optimality."""
    seed: int = attrs.field(default=0, validator=at_least(0))
    """Of PyVRP."""


@attrs.frozen
class Found:
    """A solution and where it comes from."""

    actions: list[int]
    """``[T]``; CVRP: with the depot at both ends and between routes."""
    proven: bool
    """Whether it is optimal in the integers the solver saw."""
    solver: str
    version: str
    settings: dict[str, Any]
    seconds: float


def solve(model: Model, settings: Settings) -> Found | None:
    """Return the best solution found, or None if none is feasible.

    TSP: PyVRP, then up to ``prove`` nodes CP-SAT from PyVRP's tour; the better one is kept.
    CVRP: PyVRP.
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
