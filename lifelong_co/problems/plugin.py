"""Registers the problems."""

from lifelong_co.hookspecs import Register, hookimpl
from lifelong_co.problems.atsp import ATSP
from lifelong_co.problems.cvrp import CVRP
from lifelong_co.problems.mtvrp import MTVRP
from lifelong_co.problems.tsp import TSP


@hookimpl
def register_problems(register: Register) -> None:
    """Register ``tsp``, ``cvrp``, ``mtvrp`` and ``atsp``."""
    register("tsp", TSP())
    register("cvrp", CVRP())
    register("mtvrp", MTVRP())
    register("atsp", ATSP())
