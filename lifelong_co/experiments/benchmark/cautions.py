"""Warnings about files where a solver's cost, or any cost, says little."""

from pathlib import Path

import numpy as np

from lifelong_co import registry
from lifelong_co.config.run_config import Config
from lifelong_co.errors import LifelongError
from lifelong_co.instance_files.file_instance import Actions, FileInstance
from lifelong_co.instance_files.pool import load_instances
from lifelong_co.instance_files.solve import length
from lifelong_co.protocols import Problem
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.imports import METHOD
from lifelong_co.tasks.task import Task

# A size above this multiple of the largest learned one is far from what the solver has seen.
FAR = 2
WHOLE = ("EUC_2D", "CEIL_2D", "FLOOR_2D")
"""The rules that round distances to whole units."""
SHORT = 5
"""Distances of fewer units lose much by rounding."""


def largest_learned(config: Config, learned: int | None = None) -> int | None:
    """Return the largest size of the first ``learned`` tasks of a run; None: of all tasks.

    The result is None if the run has learned nothing that is known, such as an import, or instances
    of any size from files that are gone.
    """
    if config.method == METHOD:
        return None
    problem = registry.problem(config.problem)
    sizes = [task.size or _largest(task, problem) for task in config.tasks[:learned]]
    return max(sizes) if sizes and all(sizes) else None


def _largest(task: Task, problem: Problem) -> int:
    """Return the largest size of the files of a task; 0 if they cannot be read any more."""
    try:
        return max(map(problem.size, load_instances(task.files, problem, scale=task.scale)))
    except (LifelongError, OSError):
        return 0


def largest_of_run(folder: Path, after: int | None) -> int | None:
    """Return `largest_learned` after so many tasks of a run; None: for its latest checkpoint."""
    run = RunFolder(folder)
    return largest_learned(run.config(), after or run.learned() or None)


def too_large(instance: FileInstance, largest: int | None) -> str:
    """Return a warning if an instance is far larger than what was learned, or an empty text."""
    if largest is None or instance.size <= FAR * largest:
        return ""
    return (
        f"{instance.name}: {instance.size} nodes are more than twice the largest size learned"
        f" ({largest}); the cost can be far above that of simple rules"
    )


def coarse(instance: FileInstance, actions: Actions) -> str:
    """Return a warning if rounding decides the cost of a solution, or an empty text.

    It does so where the coordinates have a large unit, such as kilometers in a town.
    """
    tour = np.asarray(actions)
    moves = int((tour != np.roll(tour, 1)).sum())
    mean = length(instance, tour) / max(1, moves)
    if instance.distance_rule not in WHOLE or mean >= SHORT:
        return ""
    return (
        f"{instance.name}: {instance.distance_rule} rounds each distance to a whole unit, and a"
        f" mean one of this solution is {mean:.2g} units; write coordinates in a smaller unit, such"
        " as meters in place of kilometers"
    )
