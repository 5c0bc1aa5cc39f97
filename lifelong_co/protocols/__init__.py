"""Every contract between the parts of lifelong-co; the shape of each tensor is written here once.

The modules are sorted by reader; import the names from here.

Sizes: ``B`` instances, ``n`` nodes, ``S`` trajectories per instance, ``A`` actions (``n`` for the
TSP; ``n + 1`` for the CVRP, where action 0 is the depot), ``T`` actions of a solution. A *record*
is a frozen attrs class whose fields are tensors with the same first dimension (`tensors.records`).
"""

from lifelong_co.protocols.instances import Distribution, FieldSampler, FileFormat
from lifelong_co.protocols.learning import LearnerState, Method, Objective
from lifelong_co.protocols.logger import Logger
from lifelong_co.protocols.problem import Context, Instances, Problem, State
from lifelong_co.protocols.replay import (
    Buffer,
    ConsolidationLoss,
    Divergence,
    Experience,
    Weighting,
)
from lifelong_co.protocols.solver import Decode, Observer, Rollout, Solver

__all__ = [
    "Buffer",
    "ConsolidationLoss",
    "Context",
    "Decode",
    "Distribution",
    "Divergence",
    "Experience",
    "FieldSampler",
    "FileFormat",
    "Instances",
    "LearnerState",
    "Logger",
    "Method",
    "Objective",
    "Observer",
    "Problem",
    "Rollout",
    "Solver",
    "State",
    "Weighting",
]
