"""Solving a file with the solver of a run: what ``lifelong-co solve`` does, as a function."""

from pathlib import Path

import attrs
import numpy as np
import numpy.typing as npt

from lifelong_co.api.stored import StoredRun, folder_of
from lifelong_co.errors import ConfigError
from lifelong_co.evaluation import named_test
from lifelong_co.experiments.references.gaps import gap
from lifelong_co.instance_files.solutions import best_known, check
from lifelong_co.instance_files.solve import best_each
from lifelong_co.instance_files.vrplib_instances import read_instance
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.tensors.device import chosen_device


@attrs.frozen(eq=False)
class Solved:
    """A checked solution of an instance from a file."""

    name: str
    """The name of the instance."""
    cost: float
    """The cost in the units of the file."""
    routes: list[list[int]]
    """The nodes of each route; the CVRP counts customers from 1, the TSP nodes from 0."""
    actions: npt.NDArray[np.int64]
    """The order of visits, ``[T]``; for the CVRP 0 is the depot."""
    best_known: float | None
    """The least known cost, from a ``.sol`` or ``.opt.tour`` beside the file; None: unknown."""

    @property
    def gap(self) -> float | None:
        """The cost over the best-known cost, minus 1; None: unknown."""
        return gap(self.cost, self.best_known) if self.best_known else None


def solve(
    file: Path | str,
    run: StoredRun | Path | str,
    *,
    augment: bool = True,
    trajectories: int | None = None,
    after: int | None = None,
    device: str = "auto",
) -> Solved:
    """Solve a CVRPLIB ``.vrp`` or TSPLIB ``.tsp`` file with the trained solver of a run.

    Parameters
    ----------
    file
        The file.
    run
        A run or its folder.
    augment
        Solve also the eight symmetric images.
    trajectories
        Start from the first nodes, so many; None: from all.
    after
        The number of learned tasks, from 1; None: the latest checkpoint.
    device
        ``auto``, ``cpu``, ``cuda`` or ``cuda:1``.

    Raises
    ------
    ConfigError
        If the run has learned another problem than that of the file.
    FileFormatError, CheckpointError
        If the file or the checkpoint cannot be used.
    """
    path, folder = Path(file), folder_of(run)
    instance = read_instance(path, best_known=best_known(path))
    solver = load_solver(folder, after=after, device=chosen_device(device))
    if solver.problem.name != instance.problem:
        raise ConfigError(
            f"{file}: the file is a {instance.problem} instance, "
            f"the solver in {folder} was trained on {solver.problem.name}"
        )
    with named_test(f"{folder} on {file}"):
        (found,) = best_each(solver, [instance], augment=augment, trajectories=trajectories)
    report = check(instance, found.actions)
    return Solved(instance.name, report.cost, report.routes, found.actions, instance.best_known)
