"""Solvers of references: PyVRP and OR-Tools CP-SAT, and what a model of an instance must have."""

from lifelong_co.reference_solvers.contract import Found, ReferenceModel, Settings
from lifelong_co.reference_solvers.exact import Circuit, shortest_circuit
from lifelong_co.reference_solvers.heuristic import Penalties, search
from lifelong_co.reference_solvers.packages import optional, version

__all__ = [
    "Circuit",
    "Found",
    "Penalties",
    "ReferenceModel",
    "Settings",
    "optional",
    "search",
    "shortest_circuit",
    "version",
]
