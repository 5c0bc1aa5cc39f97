"""Registers the problems, and how references of them are found."""

from lifelong_co.hookspecs import Register, hookimpl
from lifelong_co.problems.cvrp import CVRP
from lifelong_co.problems.reference_models import route_model, tour_model
from lifelong_co.problems.tsp import TSP


@hookimpl
def register_problems(register: Register) -> None:
    """Register ``tsp`` and ``cvrp``."""
    register("tsp", TSP())
    register("cvrp", CVRP())


@hookimpl
def register_reference_models(register: Register) -> None:
    """Register the models of ``tsp`` and ``cvrp``."""
    register("tsp", tour_model)
    register("cvrp", route_model)
