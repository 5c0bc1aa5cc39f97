"""Folders of imported parameters, as `lifelong-co import-checkpoint` makes them."""

from pathlib import Path

import attrs
from tiny_runs import tiny_config

from lifelong_co import registry
from lifelong_co.protocols import Solver
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.imports import METHOD
from lifelong_co.storage import checkpoint


def write(folder: Path, problem: str = "tsp") -> Solver:
    """Write a folder of imported parameters of a tiny POMO; return the solver."""
    config = attrs.evolve(tiny_config(problem=problem), method=METHOD, method_options={})
    run = RunFolder(folder)
    run.create(config)
    solver = registry.solver(config.solver, problem, **config.solver_options)
    checkpoint.save(run.checkpoints, 0, {"parameters": solver.module.state_dict()})
    return solver
