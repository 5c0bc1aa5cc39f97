"""Solving a file with the solver of a run: what ``lifelong-co solve`` does, as a function."""

from pathlib import Path

import attrs
import numpy as np
import numpy.typing as npt

from lifelong_co.api.stored import StoredRun, folder_of
from lifelong_co.errors import ConfigError
from lifelong_co.experiments.benchmark.answer import Effort, answer
from lifelong_co.experiments.benchmark.improve import refuse_unmodelled
from lifelong_co.experiments.benchmark.known import known_of
from lifelong_co.experiments.references.cache import FOLDER
from lifelong_co.experiments.references.gaps import gap
from lifelong_co.instance_files.formats import read_file
from lifelong_co.instance_files.solutions import check
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.tensors.device import chosen_device


@attrs.frozen(eq=False)
class Solved:
    """A checked solution of an instance from a file."""

    name: str
    """The name of the instance."""
    cost: float
    """The cost in the units of the file."""
    found: float
    """The cost of the solver's own solution, before PyVRP went on from it."""
    routes: list[list[int]]
    """The nodes of each route; the CVRP counts customers from 1, the TSP nodes from 0."""
    actions: npt.NDArray[np.int64]
    """The order of visits, ``[T]``; for the CVRP 0 is the depot."""
    best_known: float | None
    """The least known cost, found as by ``lifelong-co solve``; None: unknown."""
    nearest_neighbor: float
    """The least cost of the nearest-neighbor rule, in the units of the file."""

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
    improve: float = 0.0,
    after: int | None = None,
    device: str = "auto",
) -> Solved:
    """Solve a file, e.g. a CVRPLIB ``.vrp``, with the trained solver of a run.

    Parameters
    ----------
    file
        The file.
    run
        A run or its folder.
    augment
        Solve also the eight symmetric images.
    trajectories
        Start from the first nodes, so many, at least 1; None: from all.
    improve
        Seconds for which PyVRP goes on from the solver's solution, at least 0.
    after
        The number of learned tasks, from 1; None: the latest checkpoint.
    device
        ``auto``, ``cpu``, ``cuda`` or ``cuda:1``.

    Raises
    ------
    ConfigError
        If the run has learned another problem than that of the file, or a number is out of range.
    FileFormatError, CheckpointError
        If the file or the checkpoint cannot be used.
    InvalidRolloutError
        If a solution of the solver is not feasible.
    """
    path, folder = Path(file), folder_of(run)
    instance = read_file(path)
    instance = attrs.evolve(instance, best_known=known_of(path, instance, FOLDER))
    effort = Effort(augment=augment, trajectories=trajectories, improve=improve)
    if improve:
        refuse_unmodelled(instance)
    solver = load_solver(folder, after=after, device=chosen_device(device))
    if solver.problem.name != instance.problem:
        raise ConfigError(
            f"{file}: the file is a {instance.problem} instance, "
            f"the solver in {folder} was trained on {solver.problem.name}"
        )
    found = answer(solver, instance, effort, label=str(folder))
    return Solved(
        name=instance.name,
        cost=found.cost,
        found=found.found,
        routes=check(instance, found.actions).routes,
        actions=found.actions,
        best_known=instance.best_known,
        nearest_neighbor=found.nearest,
    )
