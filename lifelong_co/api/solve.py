"""Solving a file with the solver of a run: what ``lifelong-co solve`` does, as a function."""

import warnings
from pathlib import Path

import attrs
import numpy as np
import numpy.typing as npt

from lifelong_co.api.stored import StoredRun, folder_of
from lifelong_co.errors import ConfigError
from lifelong_co.experiments.benchmark.answer import Effort, answer, refuse_other
from lifelong_co.experiments.benchmark.cautions import coarse, largest_of_run, too_large
from lifelong_co.experiments.benchmark.improve import refuse_unmodelled
from lifelong_co.experiments.benchmark.known import known_of
from lifelong_co.experiments.references.cache import FOLDER
from lifelong_co.experiments.references.gaps import gap
from lifelong_co.instance_files.formats import read_file
from lifelong_co.instance_files.solutions import check
from lifelong_co.protocols import Solver
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
    """The nodes of each route.

    With a depot, customers count from 1, as in a ``.sol`` file: customer ``k`` is node ``k + 1`` of
    a ``.vrp`` file, and customer ``k`` of a Solomon file. Without a depot, nodes count from 0: node
    ``k`` is node ``k + 1`` of the file.
    """
    actions: npt.NDArray[np.int64]
    """The order of visits, ``[T]``; for the CVRP 0 is the depot."""
    best_known: float | None
    """The least known cost, found as by ``lifelong-co solve``; None: unknown."""
    nearest_neighbor: float
    """The least cost of the nearest-neighbor rule, in the units of the file."""
    seconds: float
    """The time of the solver."""
    alone: float | None
    """What PyVRP reaches alone; None if it was not asked for or finds no solution."""

    @property
    def gap(self) -> float | None:
        """The cost over the best-known cost, minus 1; None: unknown."""
        return gap(self.cost, self.best_known) if self.best_known else None


def solve(
    file: Path | str,
    run: StoredRun | Solver | Path | str,
    *,
    augment: bool = True,
    trajectories: int | None = None,
    improve: float = 0.0,
    compare: bool = False,
    after: int | None = None,
    device: str = "auto",
) -> Solved:
    """Solve a file, e.g. a CVRPLIB ``.vrp``, with the trained solver of a run.

    A warning says if the file has more than twice as many nodes as the largest task of the run.

    Parameters
    ----------
    file
        The file.
    run
        A run, its folder, or a solver. The solver that ships for a problem is
        ``lifelong_co_adapters.shipped.load("cvrp").solver``.
    augment
        Solve also the eight symmetric images.
    trajectories
        Start from the first nodes, so many, at least 1; None: from all.
    improve
        Seconds for which PyVRP goes on from the solver's solution, at least 0.
    compare
        Whether PyVRP also solves the file alone, for ``improve`` seconds, which must be above 0.
    after
        The number of learned tasks of a run, from 1; None: the latest checkpoint.
    device
        ``auto``, ``cpu``, ``cuda`` or ``cuda:1``, for a run.

    Raises
    ------
    ConfigError
        If the run has learned another problem than that of the file, or one whose cost is not the
        length of closed routes, or a number is out of range.
    FileFormatError, CheckpointError
        If the file or the checkpoint cannot be used.
    InvalidRolloutError
        If a solution of the solver is not feasible.
    """
    path = Path(file)
    if compare and not improve:
        raise ConfigError("compare: expected improve above 0 beside it")
    effort = Effort(augment=augment, trajectories=trajectories, improve=improve, compare=compare)
    if isinstance(run, StoredRun | Path | str) or not hasattr(run, "problem"):
        folder = folder_of(run)
        solver, where = load_solver(folder, after=after, device=chosen_device(device)), f"{folder}"
        largest = largest_of_run(folder, after)
    elif after is not None:
        raise ConfigError("after: expected a run, got a solver")
    else:
        solver, where, largest = run, "the solver", None
    instance = read_file(path, solver.problem.name)
    instance = attrs.evolve(instance, best_known=known_of(path, instance, FOLDER))
    if improve:
        refuse_unmodelled(instance)
    refuse_other(instance, solver, path, where)
    if warning := too_large(instance, largest):
        warnings.warn(warning, stacklevel=2)
    found = answer(solver, instance, effort, label=where)
    if warning := coarse(instance, found.actions):
        warnings.warn(warning, stacklevel=2)
    return Solved(
        name=instance.name,
        cost=found.cost,
        found=found.found,
        routes=check(instance, found.actions).routes,
        actions=found.actions,
        best_known=instance.best_known,
        nearest_neighbor=found.nearest,
        seconds=found.seconds,
        alone=found.alone,
    )
