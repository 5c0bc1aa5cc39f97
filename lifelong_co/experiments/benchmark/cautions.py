"""Warnings about files where a solver's cost, or any cost, says little."""

from pathlib import Path

import numpy as np

from lifelong_co.config.run_config import Config
from lifelong_co.instance_files.file_instance import Actions, FileInstance, cost
from lifelong_co.instance_files.solve import length
from lifelong_co.runs.data_files import Digests, read, size_of
from lifelong_co.runs.folder import RunFolder
from lifelong_co.runs.imports import METHOD

# A size above this multiple of the largest learned one is far from what the solver has seen.
FAR = 2
WHOLE = ("EUC_2D", "CEIL_2D", "FLOOR_2D")
"""The rules that round distances to whole units."""
MUCH = 0.02
"""A change by rounding, as a share of the length, above which there is a warning."""


def largest_learned(
    config: Config, learned: int | None = None, data: Digests | None = None
) -> int | None:
    """Return the largest size of the first ``learned`` tasks of a run; None: of all tasks.

    ``data`` is what the run knows of its files (`data_files.read`). The result is None if the run
    has learned nothing that is known, such as an import.
    """
    sizes = [size_of(task, data or {}) for task in config.tasks[:learned]]
    return max(sizes) if config.method != METHOD and sizes and all(sizes) else None


def largest_of_run(folder: Path, after: int | None) -> int | None:
    """Return `largest_learned` after so many tasks of a run; None: for its latest checkpoint."""
    run = RunFolder(folder)
    return largest_learned(run.config(), after or run.learned() or None, read(folder))


def too_large(instance: FileInstance, largest: int | None) -> str:
    """Return a warning if an instance is far larger than what was learned, or an empty text."""
    if largest is None or instance.size <= FAR * largest:
        return ""
    return (
        f"{instance.name}: {instance.size} nodes are more than twice the largest size learned"
        f" ({largest}); the cost can be far above that of simple rules"
    )


def coarse(instance: FileInstance, actions: Actions) -> str:
    """Return a warning if rounding changes the cost of a solution much, or an empty text.

    It does so where the coordinates have a large unit, such as kilometers in a town.
    """
    if instance.distance_rule not in WHOLE:
        return ""
    exact, rounded = length(instance, np.asarray(actions)), cost(instance, actions)
    if abs(rounded - exact) <= MUCH * exact:
        return ""
    return (
        f"{instance.name}: {instance.distance_rule} rounds each distance to a whole unit: the cost"
        f" is {rounded:.10g}, the length without rounding {exact:.1f}; write coordinates in a"
        " smaller unit, such as meters in place of kilometers"
    )
