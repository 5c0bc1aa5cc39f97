"""Registers where instances come from: the paper's six distributions, and the file formats."""

from functools import partial

from lifelong_co.hookspecs import Register, hookimpl
from lifelong_co.instance_files import solomon
from lifelong_co.instance_files.formats import Format
from lifelong_co_plugins.distributions.distribution import make_distribution
from lifelong_co_plugins.distributions.samplers import SAMPLERS


@hookimpl
def register_distributions(register: Register) -> None:
    """Register ``U GM E C G R``."""
    for name in SAMPLERS:
        register(name, partial(make_distribution, name))


@hookimpl
def register_file_formats(register: Register) -> None:
    """Register the files of TSPLIB, CVRPLIB, Solomon, and Gehring and Homberger."""
    register("tsp", Format((".tsp",)))
    register("cvrp", Format((".vrp",)))
    register("mtvrp", Format((".vrp", ".txt", ".TXT"), solomon.read))
    register("atsp", Format((".atsp",)))
