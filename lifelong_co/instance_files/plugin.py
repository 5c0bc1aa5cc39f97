"""Registers the file formats of each problem."""

from lifelong_co.hookspecs import Register, hookimpl
from lifelong_co.instance_files import solomon
from lifelong_co.instance_files.formats import Format


@hookimpl
def register_file_formats(register: Register) -> None:
    """Register the files of TSPLIB, CVRPLIB, Solomon, and Gehring and Homberger."""
    register("tsp", Format((".tsp",)))
    register("cvrp", Format((".vrp",)))
    register("mtvrp", Format((".vrp", ".txt"), solomon.read))
    register("atsp", Format((".atsp",)))
