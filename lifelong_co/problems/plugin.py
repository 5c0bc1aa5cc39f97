"""Registers the problems: how they are sampled, ordered, and how references of them are found."""

from lifelong_co.hookspecs import Register, hookimpl
from lifelong_co.problems import atsp_sampler, mtvrp_sampler
from lifelong_co.problems.atsp import ATSP
from lifelong_co.problems.cvrp import CVRP
from lifelong_co.problems.mtvrp import MTVRP
from lifelong_co.problems.mtvrp_model import mtvrp_model
from lifelong_co.problems.reference_models import matrix_model, route_model, tour_model
from lifelong_co.problems.tsp import TSP


@hookimpl
def register_problems(register: Register) -> None:
    """Register ``tsp``, ``cvrp``, ``mtvrp`` and ``atsp``."""
    register("tsp", TSP())
    register("cvrp", CVRP())
    register("mtvrp", MTVRP())
    register("atsp", ATSP())


@hookimpl
def register_samplers(register: Register) -> None:
    """Register the sampler of the attributes of ``mtvrp``."""
    register("mtvrp", mtvrp_sampler.sampler)


@hookimpl
def register_distributions(register: Register) -> None:
    """Register the random matrices of ``atsp``."""
    register(atsp_sampler.NAME, atsp_sampler.matrix_distribution)


@hookimpl
def register_orders(register: Register) -> None:
    """Register the order ``variants`` of ``mtvrp``."""
    register("mtvrp:variants", mtvrp_sampler.ORDER)


@hookimpl
def register_reference_models(register: Register) -> None:
    """Register the models of all four problems."""
    register("tsp", tour_model)
    register("cvrp", route_model)
    register("mtvrp", mtvrp_model)
    register("atsp", matrix_model)
