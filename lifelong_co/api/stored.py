"""A run folder, as an object: what was learned, its costs and metrics, and its solver."""

import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs

from lifelong_co.config.run_config import Config
from lifelong_co.errors import ConfigError
from lifelong_co.protocols import Solver
from lifelong_co.runs.folder import RunFolder, refuse_start
from lifelong_co.runs.measured import cost_rows
from lifelong_co.runs.trained_solver import load_solver
from lifelong_co.tasks.task import Task
from lifelong_co.tensors.device import chosen_device


@attrs.frozen
class StoredRun:
    """A run in its folder, finished or not; every property is read from the disk.

    `costs` and `metrics` raise a `FileFormatError` if ``costs.csv`` has errors, or has other tasks
    than ``config.toml``.
    """

    folder: Path = attrs.field(converter=Path)
    """The run folder."""

    @property
    def config(self) -> Config:
        """The resolved configuration."""
        return RunFolder(self.folder).config()

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The ``k`` tasks in the order of arrival."""
        return self.config.tasks

    @property
    def learned(self) -> int:
        """The number of tasks that have been learned to their end, 0 to ``k``."""
        return RunFolder(self.folder).learned()

    @property
    def costs(self) -> list[list[float]]:
        """The cost matrix ``d[i][j]``: mean cost on task ``j + 1`` after ``i + 1`` learned tasks.

        It has a row for each learned task and ``k`` columns, with ``nan`` for a cost that was not
        measured (`Config.tests_after`).
        """
        if not self.learned:
            return []
        config = self.config
        rows = cost_rows(RunFolder(self.folder).costs(config), config)
        return [[row.get(j, math.nan) for j in range(len(config.tasks))] for row in rows]

    @property
    def metrics(self) -> dict[str, Any]:
        """AP, AF, AMF, APl and AG over the learned tasks, as plain fractions.

        None: a metric has no meaning, or was not measured. ``d*`` is the lowest cost of this run;
        `compare` takes the lowest cost of several runs. Empty before the end of the first task.
        """
        found = RunFolder(self.folder).summary(self.config) if self.learned else {}
        return dict(found.get("metrics", {}))

    def solver(self, after: int | None = None, device: str = "auto") -> Solver:
        """Return the trained solver, in evaluation mode.

        Parameters
        ----------
        after
            The number of learned tasks, from 1; None: the latest checkpoint.
        device
            ``auto``, ``cpu``, ``cuda`` or ``cuda:1``.

        Raises
        ------
        ConfigError, CheckpointError
            If there is no such checkpoint or device.
        """
        return load_solver(self.folder, after=after, device=chosen_device(device))


def load(run: Path | str) -> StoredRun:
    """Return the run in a folder that `learn` or ``lifelong-co run`` has made.

    Raises
    ------
    ConfigError
        If the folder has no readable ``config.toml``, or holds pretrained parameters only.
    """
    stored = StoredRun(folder_of(run))
    refuse_start(stored.config, stored.folder)
    return stored


def folder_of(run: object) -> Path:
    """Return the folder of a run that a caller gives as an object or as a path.

    Raises
    ------
    ConfigError
        If it is something else.
    """
    if isinstance(run, StoredRun):
        return run.folder
    if not isinstance(run, str | os.PathLike):
        raise ConfigError(f"run: expected a run or its folder, got {run!r}")
    return Path(run)


def listed(name: str, given: object, of: str) -> tuple[Any, ...]:
    """Return what a program gives as a list.

    Raises
    ------
    ConfigError
        If it is one thing, or a text, which would count as a list of letters.
    """
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ConfigError(f"{name}: expected a list of {of}, got {given!r}")
    return tuple(given)
