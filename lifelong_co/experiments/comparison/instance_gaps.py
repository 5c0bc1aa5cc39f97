"""Optimality gaps of runs, by the paper's text or as published.

The text does not define the gap of a test set. Here it is the mean cost over the mean reference,
minus 1. The official code takes the mean over the instances of each instance's gap
(``CVRPTester.py:148``). A run folder has only mean costs, so these gaps need the run's checkpoints:
the test instances are solved again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

from lifelong_co.config.run_config import Config
from lifelong_co.errors import CheckpointError, LifelongError
from lifelong_co.evaluation import best_costs, named_test
from lifelong_co.experiments.comparison.runs import FinishedRun
from lifelong_co.experiments.references.gaps import MeanReferences, gap
from lifelong_co.protocols import Solver
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.tasks.instances import testing

InstanceGaps = Mapping[Path, Mapping[str, float]]
"""Gap as published by run folder and task; a run without checkpoints is missing."""
TOLERANCE = 1e-3
"""Largest relative difference of a mean cost from ``costs.csv``, where devices may round."""


def gaps_of_runs(
    runs: Sequence[FinishedRun], means: Mapping[str, float], published: InstanceGaps | None = None
) -> dict[str, float | None]:
    """Return the mean gap of `FinishedRun.final` with a reference on each task, over some runs.

    Parameters
    ----------
    runs
        Runs of one configuration, at least one.
    means
        The mean reference of each task.
    published
        The result of `instance_gaps`; None: the gaps are those of the mean costs.

    Returns
    -------
    Plain fractions; None on a task where the gap of a run is not known.
    """
    if published is None:
        return {task: gap(fmean(run.final[task] for run in runs), means[task]) for task in means}
    found: dict[str, float | None] = {}
    for task in means:
        known = [published[run.path][task] for run in runs if run.path in published]
        found[task] = fmean(known) if len(known) == len(runs) else None
    return found


def instance_gaps(
    runs: Iterable[FinishedRun], references: MeanReferences, device: str, log: Callable[[str], None]
) -> InstanceGaps:
    """Return the mean over the instances of each instance's gap, on each task with references.

    Parameters
    ----------
    runs
        Runs with the same tests.
    references
        The references of these tests.
    device
        Where the instances are solved.
    log
        Called with a line before the instances of a run are solved, and with one if they cannot be.
    """
    found: dict[Path, dict[str, float]] = {}
    for run in runs if references.means else ():
        log(f"{run.path}: solves the test instances again, for the gap of each instance")
        try:
            found[run.path] = _gaps(run, references.costs, device)
        except LifelongError as error:
            log(f"{run.path}: no gaps as published: {error}")
    return found


def mean_ratio(costs: Tensor, references: Sequence[float]) -> float:
    """Return the mean of the gaps of ``B`` costs ``[B]`` to ``B`` references."""
    return float((costs.double() / torch.tensor(references).double() - 1).mean())


def instance_costs(solver: Solver, config: Config, index: int) -> Tensor:
    """Return the cost of each test instance of a task, ``[B]`` on the CPU.

    Parameters
    ----------
    solver
        A trained solver.
    config
        The configuration that says what is tested, and how.
    index
        The index of the task in the configuration.
    """
    groups: list[Any] = testing(config.tasks[index], solver.problem, config.tests)
    with named_test(f"task {config.tasks[index].label}, by solver {config.solver!r}"):
        found = [
            best_costs(solver, each, augment=config.augment, symmetries=config.symmetries).cpu()
            for each in groups
        ]
    return torch.cat(found)


def _gaps(
    run: FinishedRun, references: Mapping[str, Sequence[float]], device: str
) -> dict[str, float]:
    found = {}
    loaded: dict[int, Solver] = {}
    for index, name in enumerate(run.names):
        if name not in references:
            continue
        after = index + 1 if run.restarts else len(run.names)
        if after not in loaded:
            loaded = {after: load_solver(run.path, after=after, device=device)}
        costs = instance_costs(loaded[after], run.config, index)
        mean, stored = float(costs.double().mean()), run.final[name]
        if abs(mean - stored) > TOLERANCE * stored:
            raise CheckpointError(
                f"{name}: expected the mean cost in costs.csv, {stored:.4f}, but the checkpoint"
                f" gives {mean:.4f}"
            )
        found[name] = mean_ratio(costs, references[name])
    return found
