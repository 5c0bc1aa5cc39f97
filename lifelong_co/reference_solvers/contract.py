"""What finds the reference of an instance: a model with a function `solve`."""

from typing import Any, Protocol

import attrs

from lifelong_co.validators import at_least

STEPS = 1_000_000
"""Integer steps of one unit of length: for a route of 100 legs the rounding error is at most
5e-5."""


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
    """CP-SAT tries to prove optimality for instances with up to this number of nodes."""
    seed: int = attrs.field(default=0, validator=at_least(0))
    """Seed of PyVRP."""


@attrs.frozen
class Found:
    """A solution, and the solver that found it."""

    actions: list[int]
    """``[T]``, as in `protocols.Problem`; for the CVRP with the depot at both ends and between
    routes."""
    proven: bool
    """Whether it is proven optimal in the integers of the model."""
    solver: str
    """The package that found it, e.g. ``pyvrp``."""
    version: str
    """Version of the solver's package."""
    settings: dict[str, Any]
    """The settings that were used."""
    seconds: float
    """Time of the search."""


class ReferenceModel(Protocol):
    """One instance in the form that a solver of references needs.

    It travels to other processes, so its class must be importable and its fields plain data.
    """

    def solve(self, settings: Settings) -> Found | None:
        """Return the best solution found, or None if no solution is feasible.

        The caller checks the solution and computes its cost with the problem itself.
        """
